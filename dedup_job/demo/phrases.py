r"""The words and sentences the demo corpus is made of; all of them were written for this project.

`WORDS` maps a name to alternatives separated by white space (`_` stands for a blank), `SENTENCES`
and `CLAIMS` map a subject to one template per line. In all of them `[name]` is replaced by one of
the alternatives of that name, `[*name]` by the same one throughout a document, and `[2..9]` by a
number of that range. Templates change between fixed and free parts every few characters, so that
two texts made from the same template still have little in common.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

WORDS: Mapping[str, str] = {
    "surname": """
        赵 钱 孙 李 周 吴 郑 王 冯 陈 褚 卫 蒋 沈 韩 杨 朱 秦 许 何 吕 施 张 孔 曹 严 华 金 魏 陶 姜
        戚 谢 邹 苏 潘 葛 范 彭 鲁 韦 马 苗 方 俞 任 袁 柳 鲍 史 唐 费 薛 雷 贺 倪 汤 罗 毕 郝
    """,
    "given": """
        晓峰 雨桐 子涵 文博 思远 佳宁 浩然 梓萱 明辉 静怡 俊杰 欣妍 志强 慧敏 天佑 可馨 建国 春燕
        嘉懿 鹏程 若曦 少华 雪梅 立新 依诺 泽宇 秀英 振东 安琪 宏达 诗涵 国栋 美玲 家豪 念慈 启航
        婉清 景行 书瑶 怀瑾 乐天 青山 海燕 卓然 知夏 星辰 玉洁 长林
    """,
    "person": "[surname][given]",
    "city": """
        杭州 兰州 昆明 大连 厦门 西宁 洛阳 桂林 扬州 绵阳 襄阳 齐齐哈尔 包头 喀什 遵义 赣州 泉州
        潍坊 宜昌 株洲 湛江 柳州 海口 拉萨 银川 延安 承德 大同 锦州 佳木斯 徐州 芜湖 漳州 景德镇
        开封 岳阳 韶关 北海 曲靖 丽江 汉中 天水 酒泉 格尔木 吐鲁番 秦皇岛 运城 丹东 四平 牡丹江
        连云港 嘉兴 蚌埠 龙岩 九江 济宁 信阳 荆州 衡阳 梅州
    """,
    "street": """
        解放路 朝阳巷 滨河大道 梧桐街 学府路 东门口 老码头 铁匠营 百货大楼 纺织厂 青石桥 鼓楼前
        体育馆 植物园 天文台 少年宫 敬老院 社区食堂 旧仓库 印刷所 农贸市场 汽车站 邮电局 陶艺坊
        露天剧场 果树试验站 渔港 茶山 采石场 气象站 消防队 档案馆 养蜂场 木材厂 水文站 观景台
        地铁工地 博物馆西厅 县图书馆 乡村诊所 滑雪场 造船厂 苗圃 灯塔 古戏台
    """,
    "when": """
        清晨 黄昏 立春前后 梅雨时节 中秋夜里 寒假期间 运动会那天 开学第一周 暴雨过后 农忙时 停电那晚
        去年腊月 霜降次日 午休时分 周末上午 丰收季节 雾散以后 毕业前夕 国庆长假 元宵当晚 冬至凌晨
        夏令营里 期中考试后 天刚蒙蒙亮时 头一场雪里 傍晚收工后 赶集日 植树节 台风登陆前 搬家之际
    """,
    "adj": """
        斑驳的 崭新的 沉甸甸的 透明的 狭长的 笨重的 精致的 褪色的 温热的 潮湿的 闪亮的 古朴的 粗糙的
        柔软的 破旧的 奇特的 喧闹的 寂静的 辽阔的 陡峭的 金黄的 墨绿的 雪白的 暗红的 残缺的 鲜嫩的
        芬芳的 滚烫的 冰凉的 弯曲的 整齐的 稀疏的 茂密的 宽敞的 低矮的 坚固的 松散的 锋利的 轻盈的
        朴素的
    """,
    "thing": """
        铜壶 竹篮 手风琴 旧相册 望远镜 油纸伞 搪瓷杯 自行车 罗盘 毛线团 信封 木匣 蓑衣 石磨 风筝
        台灯 收音机 缝纫机 算盘 陶罐 棉袄 口琴 画框 邮票 草帽 渔网 算术本 灯笼 闹钟 挂毯 剪刀 砚台
        马车 书架 围巾 铁锹 地球仪 标本盒 糖葫芦 水车 棋盘 明信片 玻璃弹珠 藤椅 煤油灯 瓷碗 鼓槌
        磁带 车票 暖水瓶 热气球 皮影 绣花鞋 门环 鱼竿 钢笔
    """,
    "act": """
        擦拭 修补 端详 搬运 描画 寻找 收藏 拆开 打磨 晾晒 称量 登记 包裹 赠送 拍摄 递过 摆放 举起
        藏好 翻找 清点 典当 捆扎 抚摸 挑选 描述 刷洗 出售 借来 归还 烘干 重新组装 仔细丈量 反复摩挲
        小心托住
    """,
    "job": """
        邮递员 木匠 护士长 船工 编辑 气象员 养蜂人 司机 裁缝 地质队员 渔民 图书管理员 厨师 测绘员
        教练 话务员 泥瓦匠 兽医 飞行员 考古学者 钟表匠 护林员 摄影师 报务员 园艺师 矿工 翻译 鼓手
        药剂师 电焊工 潜水员 牧羊人 检票员 制陶人 配音演员 茶农 快递员 调音师 法官助理 粮站会计
    """,
    "mood": """
        激动 忐忑 释然 惆怅 欣慰 懊恼 好奇 平静 羞愧 骄傲 焦急 满足 困惑 感激 失落 兴奋 沉默 坦然
        惊讶 疲惫 踏实 犹豫 温暖 孤单 坚定 愧疚 得意 伤感 豁然开朗 哭笑不得
    """,
    "weather": """
        细雨 狂风 薄雾 骄阳 浓霜 大雪 雷声 彩霞 冰雹 月光 沙尘 晨露 星光 寒潮 热浪 乌云 东南风 晴空
        雨夹雪 暖阳 闪电 残雪 潮气 烟霭
    """,
    "creature": """
        麻雀 黄牛 刺猬 白鹭 萤火虫 蟋蟀 山羊 狸猫 鲤鱼 乌龟 蝙蝠 蜻蜓 松鼠 大雁 蜗牛 骆驼 螃蟹 蚕
        猎犬 喜鹊 青蛙 野兔 斑马 企鹅 章鱼 羚羊 猫头鹰 海豚 壁虎 蚯蚓 蝗虫 河蚌 丹顶鹤 金丝猴 鳄鱼
    """,
    "plant": """
        水稻 银杏 番茄 仙人掌 紫藤 玉米 苔藓 松树 荷花 棉花 向日葵 豌豆 芦苇 蕨菜 柑橘 甘蔗 菊花
        胡杨 葡萄 大豆 红薯 竹子 牡丹 海带 花生 油菜 梧桐 茉莉 辣椒 睡莲 黄瓜 小麦 樱桃 橡胶树
    """,
    "saying": """
        慢工才出细活 路要一步步走 做人得讲信用 好东西经得住等 别怕从头再来 粗心是要吃亏的
        手艺不会骗人 人勤地也勤 话不能说得太满 难处总会过去 先把眼前的做完 记住来时的方向
        凡事留三分余地 把灯留给后来的人 心里有数就不慌 认真的人走得远 小事里看得出真心 雨停了就出发
    """,
    "reform": """
        均田制 科举取士 推恩令 一条鞭法 郡县制 青苗法 摊丁入亩 行省制 市舶司 军机处 府兵制 盐铁专营
        察举制 三省六部 王安石变法 洋务运动 戊戌变法 新文化运动 废井田 改土归流 土地改革
        家庭联产承包 屯田制 商鞅变法 孝文帝改革 百日维新 清末新政 辛亥革命
    """,
    "dynasty": """
        西周 春秋 战国 秦朝 西汉 东汉 三国 西晋 北魏 隋朝 盛唐 五代 北宋 南宋 辽国 元朝 明初 晚明
        康熙年间 乾隆时期 晚清 民国初年
    """,
    "relic": """
        竹简 青铜鼎 漆器 墓志铭 地契 瓷窑遗址 石碑 族谱 帛书 铁犁 城墙砖 壁画 银锭 账簿 甲骨 兵马俑
        运河闸口 粮仓 玉璧 书院匾额 海图 状元试卷 驿站令牌 纺车 印章
    """,
    "social": """
        小农经济 商业都市 中央集权 地方割据 民族交融 海外贸易 宗法关系 赋税负担 市民文化 手工工场
        门阀势力 农业技术 白银流通 士人风气 边疆治理 人口迁徙 货币统一 思想解放 工商业者 水利建设
    """,
    "history": """
        《史记》 《资治通鉴》 地方志 私人笔记 奏折抄本 外国使节日记 出土文书 族谱序言 报刊社论
        商号账册 口述回忆 碑刻拓片 海关统计 朝廷诏令
    """,
    "change": "瓦解 兴起 加强 衰落 扩大 削弱 延续 定型 中断 萌芽 普及 转移 松动 成熟 激化 缓和",
    "region": """
        黄土高原 江南丘陵 塔里木盆地 东非裂谷 亚马孙平原 云贵高原 三江平原 西欧沿海 撒哈拉沙漠
        恒河三角洲 横断山区 落基山脉 青藏高原 澳大利亚中部 河西走廊 珠江口 东南亚群岛 西西伯利亚
        地中海沿岸 四川盆地 刚果盆地 鄂尔多斯 呼伦贝尔 阿尔卑斯山 长江中游 内蒙古草原 安第斯山
        北美五大湖 冰岛 伊朗高原
    """,
    "landform": """
        冲积扇 风蚀蘑菇 溶洞 喀斯特峰林 沙嘴 冰斗 新月形沙丘 断块山 河漫滩 海蚀崖 牛轭湖 火山锥 峡谷
        三角洲 堰塞湖 雅丹 背斜谷 黄土塬 珊瑚礁 阶地 冰碛丘陵 石林
    """,
    "climate": """
        季风降水 副热带高压 西风带 寒流 地形抬升 太阳辐射 昼夜温差 信风 蒸发 台风 锋面 暖流 逆温层
        冻土 焚风 积雪融水 海陆热力差异 植被蒸腾 厄尔尼诺 沙尘暴
    """,
    "industry": """
        钢铁 服装 软件外包 乳畜业 茶叶 光伏 造纸 葡萄酒 渔业 汽车零件 稀土 橡胶 甜菜制糖 风电 花卉
        电子装配 煤化工 水电 旅游 冷链物流 羊毛纺织 造船 棉纺 生物制药 家具 马铃薯
    """,
    "geofactor": """
        劳动力 河流径流 交通干线 市场距离 土壤肥力 光照 科技水平 地价 政策扶持 水源 矿产 坡度 海拔
        港口 城镇密度 环保要求 地下水位 集聚程度
    """,
    "organ": """
        叶绿体 线粒体 肾小管 胰岛 甲状腺 小肠绒毛 气孔 根尖 下丘脑 肝脏 胸腺 核糖体 高尔基体 肺泡
        毛细血管 细胞膜 垂体 脊髓 视网膜 导管 筛管 内质网 液泡 心室 骨髓 子叶 胚囊 溶酶体
    """,
    "biomatter": """
        葡萄糖 生长素 胰岛素 抗体 淀粉酶 氨基酸 血红蛋白 赤霉素 脂肪酸 甲状腺激素 乙烯 核酸 纤维素
        尿素 神经递质 胆汁 维生素 脱落酸 干扰素 丙酮酸 乳酸 质粒 肾上腺素 无机盐
    """,
    "bioprocess": """
        光合作用 有丝分裂 减数分裂 无氧呼吸 蒸腾作用 主动运输 基因重组 反射活动 转录 体液免疫
        渗透失水 伴性遗传 演替 自然选择 能量流动 血糖调节 逆转录 细胞分化 顶端优势 胞吐 硝化作用
        翻译
    """,
    "bioact": "促进 抑制 参与 调节 阻断 加速 催化 依赖 影响 启动 终止 增强 减弱 取代",
    "metal": "铁 铜 锌 镁 铝 钠 钾 钙 银 锰 铅 锡 镍 钛 铬",
    "reagent": """
        稀硫酸 浓盐酸 澄清石灰水 酸性高锰酸钾 碳酸钠溶液 氨水 酚酞 双氧水 硝酸银溶液 溴水 氯化铁溶液
        无水乙醇 氢氧化钡 碘化钾 品红溶液 冰醋酸 四氯化碳 氯化钡溶液 紫色石蕊 新制氯水 硫酸铜溶液
        银氨溶液 饱和食盐水 漂白粉 亚硫酸钠 硫氰化钾
    """,
    "vessel": """
        锥形瓶 分液漏斗 蒸馏烧瓶 容量瓶 坩埚 U形管 洗气瓶 启普发生器 蒸发皿 滴定管 集气瓶 冷凝管
        干燥管 三颈瓶 烧杯 量筒 试管 电解槽
    """,
    "seen": """
        产生白色沉淀 溶液褪色 有气泡逸出 固体逐渐溶解 液面分层 生成蓝色絮状物 瓶口出现白雾
        溶液变为血红色 放出大量热 析出晶体 发出耀眼白光 试纸变蓝 火焰呈黄色 指针偏转 闻到刺激性气味
        出现砖红色固体 溶液先浊后清 管壁形成银镜 表面覆盖紫红色物质 水面上升 余烬复燃
    """,
    "chemidea": """
        反应速率 平衡常数 电离程度 氧化产物 转化率 活化能 溶解度 离子浓度 焓变 原子利用率 化合价
        酸碱性 摩尔质量 同分异构体 电极电势 熵增 水解程度 键能 纯度 产率
    """,
    "body": """
        滑块 小球 木箱 电梯 卫星 弹簧振子 质子 跳伞员 赛车 铅球 冰壶 传送带上的包裹 钩码 热气球
        带电油滴 列车 金属杆 摆锤 磁铁 雪橇 气缸活塞 光束 潜艇 轮轴 过山车 电子 水火箭 秋千 货船
        陀螺
    """,
    "physplace": """
        粗糙斜面 光滑水平桌面 竖直圆轨道 匀强磁场 倾斜传送带 真空玻璃管 半圆形凹槽 平行板间
        轻质弹簧上端 光滑绝缘细杆 圆锥筒内壁 水池底部 月球表面 恒温水浴 赤道上空 冰面 绝热容器
        U形导轨 凸透镜前 悬崖边缘
    """,
    "quantity": """
        加速度 动能 机械能 动量 电势能 角速度 摩擦力 压强 位移 感应电流 周期 内能 向心力 功率 电阻
        折射率 冲量 磁通量 弹性势能 线速度 波长 浮力 热量 电荷量 支持力
    """,
    "unit": "m/s N kg J W Pa V A s m cm Ω Hz T C K",
    "trend": """
        逐渐增大 逐渐减小 保持恒定 先增后减 周期性变化 突然为零 与时间成正比 与质量无关 随高度变化
        方向反转 均匀增加 趋于稳定 变为原来的[2..9]倍
    """,
    "mathobj": r"""
        函数$f(x)=[2..9]x^2-[11..99]x+[1..99]$ 等差数列$\{a_n\}$
        椭圆$\frac{x^2}{[5..49]}+\frac{y^2}{[2..48]}=1$ $\triangle{ABC}$ 正四棱锥$P-ABCD$
        抛物线$y^2=[2..24]x$ 复数$z=[2..19]-[2..19]i$ 等比数列$\{b_n\}$
        圆$(x-[1..9])^2+(y+[1..9])^2=[4..81]$ 向量$\vec{a}=([1..19],-[1..19])$
        集合$M=\{[1..9],[10..49],[50..99]\}$ $g(x)=\ln(x+[1..19])-[2..19]x$
        双曲线$\frac{x^2}{[2..50]}-y^2=[1..9]$ 矩阵$A_{[2..6]\times[2..6]}$
        直线$[2..19]x-[2..19]y+[1..99]=0$ 概率$P(X\le[2..29])$ $\sin([2..9]x+\frac{\pi}{[2..12]})$
        多项式$x^3-[2..29]x+[1..99]$ 球$O$ 幂函数$y=x^{[2..9]}$ 二项式$(x-[2..9])^{[5..19]}$ 长方体
        平行四边形$EFGH$ 对数$\log_{[2..9]}[10..999]$ 直角梯形 正六边形
        不等式$|x-[1..29]|\ge[2..49]$ 扇形 数表 随机变量$\xi$
    """,
    "mathprop": """
        单调递增区间 最小值 公比 离心率 外接圆半径 对称轴方程 前[5..40]项和 体积 零点个数 共轭
        焦点坐标 法向量 渐近线 通项公式 极值点 周长 展开式中的常数项 方差 切线斜率 面积 准线 余弦值
        最大公约数 定义域 二面角 数学期望 侧棱长 交点横坐标 图象平移量
    """,
    "goods": """
        苹果 练习册 排球 水彩笔 地砖 矿泉水 机票 玫瑰 大米 瓷砖 钢材 童装 电影票 蜂蜜 雨衣 口罩 树苗
        台历 饼干 足球 毛巾 课桌 茶杯 豆浆机 花盆 石榴 洗衣液 电池 拼图 帐篷 鞋垫 旅行箱
    """,
    "measure": "个 箱 千克 盒 件 批 套 袋 打 车",
    "rate": """
        打[6..9]折 每天多卖[2..40]件 运费[11..90]元 利润率为[11..60]% 提前[2..20]天完成 损耗[2..19]%
        比计划少[12..80]吨 增加到[3..9]倍 定金[100..900]元 分[2..9]期付款 平均每人[2..30]份
        库存仅剩[20..700]件
    """,
    "dept": """
        市科技局 县文旅委员会 高校联合课题组 省农科院 民间救援队 轨道集团 青年志愿者协会 区教育处
        海事部门 残疾人联合会 中医药学会 水利勘测院 消费者委员会 国有林场 出版社编辑部 市政养护中心
        航天科普基地 疾控中心 交警支队 老年大学 产业园管委会 美术馆筹备组 电力抢修班 电商平台
        气象服务中心
    """,
    "project": """
        湿地修复 旧楼加装电梯 智慧停车 非遗展演 智能灌溉 夜校课程 无人机巡检 社区养老 海水淡化
        古籍数字化 校园足球 垃圾分类 冬季供暖 跨江大桥 候鸟监测 直播助农 地铁延长线 儿童疫苗接种
        乡村电商 口袋公园 盲道改造 远程会诊 氢能公交 田间学校 溺水防范 文物普查 方言录音 山洪预警
        数字阅读 职工托育
    """,
    "effect": """
        通勤时间缩短[11..70]% 带动[200..9000]人就业 用水量下降[3..40]个百分点 惠及[11..90]个村
        投诉减少近[2..9]成 收入增长[5..60]% 吸引游客[2..90]万人次 节约资金[100..9000]万元
        覆盖[20..900]所学校 覆盖率升至[61..99]% 归档资料[300..9900]份 排查隐患[20..800]处
        减排[2..90]万吨 修复河岸[3..80]公里
    """,
    "doubt": """
        后续维护谁来承担 资金能否到位 老人会不会操作 数据如何保密 周边商户的生计怎么安排
        噪声怎样控制 标准是否统一 农时会不会耽误 验收由谁负责 临时停车往哪里去 补贴能发多久
        孩子们放学走哪条路
    """,
    "step": """
        公开招标 入户走访 封闭测试 试运行 听证会 图纸会审 专家评议 骨干培训 现场放样 设备调试
        样本采集 线上报名 分段施工 联合演练 经费审计 意见征集 交接仪式 二次复核
    """,
    "enwho": """
        my_grandmother the_young_engineer Professor_Dalton a_retired_sailor our_neighbour_Kevin
        the_museum_guide little_Susan an_Italian_baker the_shy_librarian Captain_Brooks
        a_village_doctor her_twin_brother the_piano_teacher two_cyclists a_curious_journalist
        Uncle_Frank the_night_guard Dr_Yamada a_homesick_student the_football_coach those_volunteers
        Mrs_Whitfield the_blind_poet
    """,
    "endid": """
        quietly_repaired suddenly_discovered refused_to_sell carefully_painted was_proud_of
        gave_away complained_about could_hardly_afford dreamed_of borrowed photographed
        accidentally_broke apologised_for wrapped_up wrote_a_song_about patiently_studied
        walked_past buried measured laughed_at hid imported auctioned decorated donated
    """,
    "enwhat": """
        an_old_violin the_wooden_bridge a_basket_of_plums seven_postage_stamps the_frozen_lake
        his_first_bicycle a_map_of_Peru the_empty_theatre some_chocolate_cake a_broken_compass
        the_village_clock a_silver_spoon her_wedding_hat the_school_newspaper a_box_of_fireworks
        the_lighthouse_lamp an_injured_owl a_vegetable_garden their_yellow_van a_jazz_record
        the_science_prize a_handwritten_diary enormous_pumpkins the_ferry_timetable
    """,
    "enwhen": """
        before_breakfast during_the_flood last_October on_a_foggy_evening while_travelling_abroad
        after_the_exam in_the_middle_of_winter every_other_Thursday at_midnight once_the_guests_left
        soon_after_graduation as_the_train_stopped within_a_week throughout_the_holiday
        by_candlelight without_asking_anyone despite_heavy_snow for_the_third_time near_the_harbour
    """,
    "enwhy": """
        it_reminded_them_of_home nobody_else_had_noticed the_budget_was_tight
        luck_seldom_comes_twice the_doctor_had_advised_exercise friendship_matters_more_than_money
        curiosity_got_the_upper_hand the_weather_kept_changing silence_felt_uncomfortable
        every_child_deserves_kindness mistakes_teach_us_quickly fresh_air_clears_the_mind
        the_neighbours_disagreed rules_are_there_for_a_reason old_habits_die_slowly
        the_last_bus_had_gone
    """,
    "enadj": """
        generous stubborn exhausted delighted embarrassed fearless jealous hopeful clumsy ambitious
        sincere puzzled grateful lonely cautious humorous annoyed optimistic
    """,
    "raw": """
        若a<b且b>c 若[2..9]<x<[10..99] 当m<n且n>[2..99]时 若x<y且y>[2..99] 当k<[2..99]或k>[100..400]
        设a<[2..9]且b>[10..99] 已知n<m且m>k
    """,
    "note": """
        （来源：本校题库） （摘自月考试卷） 【选自课后练习】 （供稿：教研组） （来源：网络整理）
        （据网友回忆） （转自学习论坛） 【期末复习用】 （摘自教辅资料） （有改动）
    """,
}

SENTENCES: Mapping[str, str] = {
    "物理": """
        质量为[2..90]kg的[body]从[physplace]由静止释放，经[2..40]s后[quantity]达到[11..99][unit]。
        如图，[body]与[body]用轻绳相连，跨过[physplace]处的定滑轮，绳长[11..99]cm。
        [person]在[city]的实验室里用[thing]代替[body]，测得[quantity]为[2..9].[11..99][unit]。
        [when]，[body]以[12..80]m/s的初速冲上[physplace]，此时[quantity][trend]。
        不计空气阻力，[physplace]与[body]之间的动摩擦因数取0.[11..89]，[quantity][trend]。
        若将[body]换成[adj][thing]，则[quantity]会[trend]，而[quantity][trend]。
        [job]发现[physplace]附近的[body]运动[12..90]m后，[quantity]只剩[2..70][unit]。
        已知[quantity]与[quantity]之比为[2..9]:[2..9]，[body]最终停在[physplace]。
        [body]绕[physplace]转动，每分钟[12..400]圈，其[quantity][trend]。
        在[weather]中，[city]的[job]观测到[body]的[quantity]为[101..999][unit]。
        电源电动势为[3..24]V，[thing]内部短路后，[quantity][trend]，[body]随即停下。
        传感器每隔[2..60]ms记录[body]的[quantity]，图线显示[quantity][trend]。
        [body]经过[physplace]时对轨道的作用力是[21..980]N，[quantity][trend]。
        先把[thing]挂在[physplace]，再让[body]靠近，[quantity]由[2..19][unit]变为[20..99][unit]。
        温度从[2..20]℃升到[30..95]℃，[body]的[quantity][trend]，[thing]略有膨胀。
        波源在[physplace]振动，[thing]旁的[body]第[2..9]次到达最高点时，[quantity][trend]。
    """,
    "数学": r"""
        已知[mathobj]与[mathobj]，求[mathprop]和[mathprop]。
        设[mathobj]的[mathprop]为[12..400]，且[mathobj]的[mathprop]等于[2..99]。
        [person]购进[goods][20..900][measure]，每[measure][12..90]元，后来[rate]，[rate]。
        [city]某商店出售[goods]和[goods]，前者[rate]，后者[rate]。
        在[mathobj]中，[mathprop]是[mathprop]的[2..9]倍，点$M$在[mathobj]上。
        [raw]，[mathobj]的[mathprop]恰为[11..99]。
        [job]要把[12..90][measure][goods]和[11..80][measure][goods]运到[city]，[rate]。
        记[mathobj]的[mathprop]为$t$，当$t>[12..999]$时，[mathobj]有[mathprop]。
        从[street]到[street]相距[2..90]km，[person]骑车每小时行[11..30]km，[job]步行，途中[rate]。
        用[thing]遮住[mathobj]的一部分，剩下的[mathprop]约占[11..89]%，再求[mathprop]。
        袋中有[3..19]枚[adj][thing]和[3..19]枚[adj][thing]，任取[2..9]枚，记下[mathprop]。
        将[mathobj]沿$x$轴平移[2..99]个单位，所得图形的[mathprop]与[mathobj]相同。
        [person]用[11..90]米篱笆围成种[plant]的园地，一边靠[street]，[mathprop]满足[rate]。
        [when]统计[12..99]名[job]的成绩，中位数[61..99]，[mathprop]为[2..9].[11..99]，[rate]。
        若[mathobj]没有[mathprop]，试讨论[mathobj]的[mathprop]，并画出草图。
        规定一种运算$m\oplus{n}=[2..9]m-[2..9]n$，由[mathobj]给出[mathprop]。
    """,
    "化学": """
        [person]向盛有[reagent]的[vessel]中滴入[reagent]，观察到[seen]。
        取[11..95]g[metal]屑投入[12..400]mL[reagent]，[seen]，随后[seen]。
        为比较[metal]与[metal]的活泼性，在[vessel]里加[reagent]，结果[seen]。
        常温下[chemidea]随[reagent]用量变化，当加到[12..90]mL时[seen]。
        [city]化工厂的废水含[metal]离子，用[reagent]处理后[seen]，[chemidea]达[51..99]%。
        把[adj][thing]浸入[reagent]，[12..90]分钟后[seen]，说明[chemidea]已改变。
        实验装置中[vessel]接在[vessel]之后，作用是除去[reagent]的挥发物，否则会[seen]。
        [job]误将[reagent]倒进[vessel]，立即[seen]，只好用[reagent]冲洗。
        电解[reagent]时阴极[seen]，阳极[seen]，转移电子0.[11..99]mol。
        升温至[101..900]℃，[metal]的氧化物分解，[chemidea][trend]，[vessel]内[seen]。
        [when]，兴趣小组从[plant]里提取色素，遇[reagent][seen]，遇[reagent][seen]。
        有机物分子量为[46..380]，能使[reagent]变化，且[seen]，由此推断其[chemidea]。
        滴定前[vessel]未润洗，[chemidea]偏高约[2..9]%，[person]重做时[seen]。
        催化剂含[metal]和[metal]，使[chemidea]提高[11..90]%，但[chemidea][trend]。
        在[vessel]中混合[metal]粉与[reagent]，静置后[seen]，过滤得[2..60]g滤渣。
    """,
    "生物": """
        研究人员用[biomatter]处理[plant]幼苗，[12..90]小时后其[organ]内[bioprocess][trend]。
        [creature]的[organ][bioact][biomatter]的合成，进而[bioact][bioprocess]。
        将[plant]与[plant]杂交，子代[101..900]株中约[11..90]株的[organ]异常。
        [city]湖区的[creature]以[plant]为食，其数量[trend]，[bioprocess]随之改变。
        显微镜下，[adj][organ]旁可见[biomatter]，这与[bioprocess]有关。
        若切除[creature]的[organ]，[biomatter]含量下降[11..90]%，[bioprocess][trend]。
        [person]在[street]调查[plant]，样方面积[2..25]平方米，记录[creature][12..300]只。
        实验组注射[biomatter]，对照组注射生理盐水，[organ]中的[bioprocess][trend]。
        [job]患病后[organ]受损，[biomatter]无法进入细胞，医生用[biomatter]缓解。
        突变的[plant]缺少[biomatter]，移到[region]后，[bioprocess]被[weather]打断。
        [bioprocess]需要[organ]提供能量，也会被[biomatter][bioact]。
        一条食物链由[plant]、[creature]和[creature]组成，第[2..4]营养级获得[101..999]kJ。
        [when]采集的[creature]标本，[organ]呈[adj]状态，提示[bioprocess]尚未结束。
        把[organ]放入[2..30]%的蔗糖溶液，[biomatter]外流，[bioprocess][trend]。
        性状由[2..4]对基因控制，[plant]的[adj]花占[11..89]%，[organ]大小[trend]。
    """,
    "历史": """
        [dynasty]推行[reform]，[social]由此[change]，[social]也随之[change]。
        据[history]载，[city]在[dynasty]已有[thing]铺[12..900]家，[social]可见一斑。
        [job][person]在[street]发现[dynasty]的[relic]，印证了[history]的说法。
        学者认为[reform][bioact]了[social]，却使[social]走向[change]。
        从[dynasty]到[dynasty]，[relic]的样式变了[2..9]次，反映[social]的[change]。
        [history]称[person]主持[reform]，年征粮[12..980]万石，[social][change]。
        公元[201..1900]年前后，[region]的[social][change]，流民达[2..90]万户。
        [city]出土的[relic]刻有[12..300]字，记述[reform]与[social]的关系。
        比较[reform]和[reform]，二者都触动[social]，前者重在[geofactor]。
        [dynasty]商人贩运[goods]到[region]，换回[goods]，[social]逐步[change]。
        [history]与[relic]对[reform]说法不一，[person]主张以[relic]为准。
        由于[geofactor]的限制，[dynasty]的[social]在[region]难以[change]。
        [person]评价[reform]："[saying]，[social]不会一夜[change]。"
        一份[dynasty]的[relic]列出[goods]、[goods]的价格，单位为文，合计[201..9900]文。
        [weather]连年，[region]的[plant]歉收，[dynasty]被迫调整[reform]。
    """,
    "地理": """
        [region]多见[landform]，其形成与[climate]和[climate]密切相关。
        [city]的[industry]产业迁往[region]，主要考虑[geofactor]，其次是[geofactor]。
        图中[landform]海拔[201..4900]米，[climate]使其[trend]。
        [when]，[region]受[climate]影响，[city]降水[12..190]毫米，[weather]频繁。
        [region]的[plant]种植面积[trend]，[geofactor]是限制条件，[industry]因此受益。
        科考队在[region]测得[landform]每年移动[2..90]米，[climate]作用明显。
        [job]沿[street]绘制剖面，发现[landform]下方有[2..60]米厚的[adj]沉积物。
        近[11..60]年[region]人口[trend]，[industry]占比达[11..89]%，[geofactor]压力加大。
        东经[21..170]°的[city]与[region]相比，[climate]更强，昼长相差[2..90]分钟。
        为发展[industry]，[city]改善[geofactor]，并从[region]引进[plant]。
        [landform]与[landform]相距[12..700]千米，分属[region]两侧，[climate]各异。
        [creature]迁徙途经[region]，因[climate]异常改道，[city]观测到[12..900]只。
        [industry]园区排放增多，[landform]附近的[geofactor][trend]，居民改种[plant]。
        等温线在[region]向北弯曲，说明[climate][trend]，[plant]花期提前[2..30]天。
        修建[12..900]千米铁路后，[region]的[goods]只需[2..40]小时就能到[city]。
    """,
    "语文": """
        [when]，[*person]在[street]捡到一只[adj][thing]，心里很是[mood]。
        [weather]落在[adj][thing]上，[job]停下来[act][thing]，谁也没有说话。
        "[saying]。"[job][person]一边[act][adj][thing]，一边对[*person]说。
        [*person]想起[city]的[job]，那人总爱[act][thing]，脸上带着[mood]的神情。
        巷口的[creature]被[weather]惊动，钻进[adj][thing]后面，只露出半截尾巴。
        母亲把[goods]换成[thing]，又用[11..90]元买了[goods]，夜里独自[act]。
        [street]的[plant]开了，[*person]带着[thing]去看[job]，一路上[mood]极了。
        父亲年轻时当过[job]，[when]总要[act]那只[adj][thing]，说是[saying]。
        信里只写着“[saying]”，落款是[person]，日期停在[when]。
        [person]从[city]寄来[thing]，附着[2..20]片[plant]叶子，[*person]读完十分[mood]。
        [creature]叫了[2..9]声，[weather]渐渐远去，屋里的[thing]泛着[adj]光。
        [*person][act]完[thing]，忽然明白[saying]的道理，[mood]得睡不着。
        老[job]伸出[adj]手，接过[thing]，指着[plant]说：“[saying]。”
        那年[street]拆了，[adj][thing]不知去向，[*person]为此[mood]了[2..30]天。
        我们沿着[plant]丛走到[street]，[person]讲起[creature]和[job]的旧事。
        [when]下起[weather]，[*person]抱着[adj][thing]躲进[street]，遇见一位[job]。
        桌上摆着[thing]、[thing]和半盘[goods]，[job]看了看，神色[mood]。
        [*person]攒了[11..90]个月的钱，想替[person]赎回[adj][thing]。
        弟弟画了一只[adj][creature]，旁边歪歪扭扭写着“[saying]”。
        [weather]里，[city]来的[job]正[act]一捆[plant]，额上全是汗。
        [person]不肯收下[goods]，只留下一把[adj][thing]，转身走向[street]。
        许多年后，[*person]成了[job]，仍记得[when]那阵[weather]。
        奶奶[act]着[thing]，絮絮地讲[creature]怎样偷吃[goods]，大家听得[mood]。
        [street]尽头有个[job]，专门[act]别人丢掉的[thing]，每天[2..30]件。
        [plant]的影子爬上[adj]墙，[creature]歇在[thing]边，仿佛也感到[mood]。
        [*person]把[thing]倒扣过来，里面竟掉出[2..40]张[adj]票据和一粒[plant]种子。
    """,
    "新闻": """
        本报[city]讯，[dept][when]启动[project]工作，首批投入[101..9900]万元。
        [dept]负责人[person]介绍，[project]推开后，[effect]，[effect]。
        记者在[street]看到，[job][person]正忙着[act][thing]，为[project]做准备。
        不过，也有[job]担心：“[doubt]？”对此[dept]表示将先[step]。
        按计划，[project]分[2..9]步走，[step]之后进入[step]，[2..28]日前结束。
        [city]与[city]签下协议，围绕[project]、[project]共享[geofactor]。
        [person]原是[job]，参加[project]以后改行卖[goods]，月入[2001..9800]元。
        [weather]一度打乱[step]，[dept]连夜调来[12..90]台设备，确保[project]不断档。
        来自[region]的[industry]企业看中[geofactor]，愿为[project]提供[goods]。
        数据显示，前[2..11]个月[city]的[project]使[effect]，[industry][trend]。
        在[street]居住[11..60]年的[person]说，[saying]，[project]让人[mood]。
        [dept]还把[adj][thing]送进校园，[201..4900]名学生体验[project]。
        专家[person]提醒，[project]要防止[doubt]这类问题，[step]不可省。
        [step]当天，[street]聚集了[job]、[job]等[12..900]人，场面[mood]而热烈。
        去年[project]曾因[weather]推迟[2..30]天，今年[dept]提前安排[step]。
        一只[creature]闯入[street]，让[project]的[job]们停工[2..20]小时。
        [city]的[industry]展上，[thing]与[goods]受到追捧，成交[12..990]笔。
        县里算过账，[project]每推进一年，[effect]，[goods]外销[trend]。
        对于“[doubt]”，[dept]的答复是：[step]结果张贴在[street]。
        [*person]带队走过[12..90]个村，用[thing]记下[project]的得失，颇为[mood]。
        下一步，[dept]将把[project]延伸到[street]，并补上[step]这一环。
        沿线的[plant]已成活[51..99]%，[creature]重新出现，[project]初见成效。
        [job][person]捐出[adj][thing]，义拍所得[201..9900]元用于[project]。
        同[city]相比，这里的[project]起步晚[2..9]年，胜在[geofactor]与[geofactor]。
    """,
    "英语": """
        [enwho] [endid] [enwhat] [enwhen] because [enwhy].
        "[enwhy]," said [enwho], looking [enadj] and holding [enwhat].
        It was [enwho] who [endid] [enwhat], although [enwhy].
        Not until [enwho] [endid] [enwhat] did anyone feel [enadj].
        For [12..90] years [enwho] kept [enwhat], which made people [enadj].
        [enwhen], [enwho] paid [12..900] dollars for [enwhat] and felt [enadj].
        Since [enwhy], [enwho] chose [enwhat] over [enwhat].
        [enwho] became [enadj] when [enwho] [endid] [enwhat].
        We heard that [enwhat] cost [201..9900] pounds, so [enwho] stayed [enadj].
        Page [12..300] of the report says [enwho] [endid] [enwhat] [enwhen].
        [enwho], [enadj] as ever, [endid] [enwhat] [enwhen].
        Had [enwhy], [enwho] would never have seen [enwhat].
    """,
}

CLAIMS: Mapping[str, str] = {
    "物理": """
        [body]的[quantity][trend]
        在[physplace]上[quantity]最大
        [quantity]等于[11..99][unit]
        [quantity]与[quantity]均[trend]
        第[2..9]秒末[body]位于[physplace]
    """,
    "数学": r"""
        [mathprop]为[12..99]
        [mathobj]的[mathprop]不存在
        [mathprop]大于[mathprop]
        $\frac{[2..9]}{[11..97]}$
        [mathobj]
    """,
    "化学": """
        [vessel]中[seen]
        [reagent]能与[metal]反应
        [chemidea][trend]
        用[reagent]检验时[seen]
        [metal]的[chemidea]高于[metal]
    """,
    "生物": """
        [organ][bioact][bioprocess]
        [biomatter]由[organ]合成
        [creature]的[bioprocess][trend]
        [plant]缺乏[biomatter]
        [bioprocess]发生在[organ]
    """,
    "历史": """
        [social]走向[change]
        [reform]触动[social]
        [dynasty]的[social]已经[change]
        [history]最为可信
        [relic]反映[social]
    """,
    "地理": """
        [geofactor]是主导因素
        [climate]塑造了[landform]
        [region][geofactor]优越
        [industry]依赖[geofactor]
        [city]的[climate]更强
    """,
    "语文": """
        表现了[job]的[mood]
        “[thing]”象征[saying]
        [weather]烘托[mood]的气氛
        [creature]的描写推动情节
        以[plant]开头，照应[thing]
    """,
    "新闻": """
        [project]已有[effect]
        [dept]负责[step]
        [job]担心[doubt]
        [city]先行[step]
        [industry]从中受益
    """,
    "英语": """
        [enwhy]
        [endid] [enwhat]
        [enadj] [enwhen]
        neither [enadj] nor [enadj]
        about [enwhat]
    """,
}

CLOSINGS: Mapping[str, str] = {
    "exam": """
        下列说法正确的是（ ）A. [claim] B. [claim] C. [claim] D. [claim]
        其中错误的是（ ）A. [claim] B. [claim] C. [claim] D. [claim]
        由此可知，最符合题意的选项是（ ）A. [claim] B. [claim] C. [claim]
        不属于上述推论的是 ①[claim] ②[claim] ③[claim]
        判断是否成立：[claim]，而且[claim]。
        试说明为什么[claim]，并指出[claim]的条件。
        请写出理由：[claim]；[claim]。
        哪一项可能成立？甲：[claim]；乙：[claim]；丙：[claim]。
    """,
    "english": """
        Which statement is true? A. [claim] B. [claim] C. [claim] D. [claim]
        Fill in the blank: [enwho] ____ [enwhat]. A. [claim] B. [claim] C. [claim]
        What does the writer suggest about [enwhat]? A. [claim] B. [claim]
        Translate: [claim]; [claim].
    """,
}

# What was said, and a way to say the opposite.
OPPOSITES = (
    ("正确的是", "错误的是"),
    ("错误的是", "正确的是"),
    ("最符合", "最不符合"),
    ("不属于", "属于"),
    ("可能成立", "不可能成立"),
)
WIDTHS: Mapping[str, str] = {"，": ",", "；": ";", "：": ":", "？": "?"}
# Characters that may carry a number, a negation or a direction: a slip there is another question.
MEANINGFUL = frozenset(
    "不没无非未否莫别零一二三四五六七八九十百千万亿两半双正误错对真假是能可成大小多少高低长短"
    "上下左右东西南北前后内外增减升降加乘除快慢强弱先早晚男女甲乙丙丁阴阳酸碱吸放最属符于合立确"
)
EMPTY = (
    "",
    " ",
    " \n\t ",
    "<p>&nbsp;</p>",
    "<div><br></div>",
    "<p></p><p> </p>",
    "<!-- 待补 -->",
    "<script>var n = 1;</script>",
    "<style>p { margin: 0 }</style>",
    "<span> </span><br/>",
)
NOT_TEXT: tuple[Any, ...] = (42, -7, 3.5, True, False, ["第一行"], [], {"p": "题"}, b"\x89PNG")

# Ways to write a paragraph as HTML; `{}` is the place of the text.
BLOCKS = (
    "<p>{}</p>",
    '<p class="MsoNormal" style="line-height: 150%">{}</p>',
    '<div id="q" data-from="a > b">{}</div>',
    "<div><div>{}</div></div>\n",
    "<div>\n  <p>&nbsp;{}&nbsp;</p>\n</div>",
    "{}<br/>",
    "<DIV><P ALIGN=left>{}</P></DIV>",
)
# ... pieces of it
WRAPS = (
    "<span style=\"font-family: '宋体'; color: red\">{}</span>",
    "<b>{}</b>",
    "<em>{}</em>",
    '<font size="3">{}</font>',
    '<a href="https://example.org/?a=1&amp;b=2">{}</a>',
    "<span>{}</span><!-- 校对 -->",
    "<span lang=zh><u>{}</u></span>",
)
# ... and what may stand around without being read.
EXTRAS = (
    "",
    "\n",
    "<br>",
    "<p>&nbsp;</p>",
    "<!-- 第 3 版 <b>旧</b> -->",
    "<style>.q > p { color: #333 }</style>",
    "<script>if (1 < 2) { show('题'); }</script>",
)

_SLOT = re.compile(r"\[(?:(\d+)\.\.(\d+)|(\*?)([a-z]+))\]")


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the alternatives of a name."""
    english = name.startswith("en")
    return tuple(word.replace("_", " ") if english else word for word in WORDS[name].split())


@cache
def lines(block: str) -> tuple[str, ...]:
    """Return the templates of a block, one per line."""
    return tuple(line.strip() for line in block.strip().splitlines())


class Filler:
    """Replaces the slots of templates; `[*name]` stays the same for the life of the filler."""

    def __init__(self, rng: random.Random, claims: str) -> None:
        self._rng = rng
        self._claims = lines(claims)
        self._same: dict[str, str] = {}

    def __call__(self, template: str) -> str:
        """Return the template with all its slots filled."""
        return _SLOT.sub(self._fill, template)

    def _fill(self, slot: re.Match[str]) -> str:
        low, high, same, name = slot.groups()
        if low:
            return str(self._rng.randint(int(low), int(high)))
        if same and name in self._same:
            return self._same[name]
        word = self(self._rng.choice(self._claims if name == "claim" else words(name)))
        if same:
            self._same[name] = word
        return word


def dress(rng: random.Random, paragraphs: Sequence[str]) -> str:
    """Write paragraphs as HTML that cleans to the very same text."""
    parts = [_inline(rng, part) for part in paragraphs]
    block = rng.choice(BLOCKS)
    body = "".join(block.replace("{}", part) for part in parts)
    return rng.choice(EXTRAS) + body + rng.choice(EXTRAS)


def _inline(rng: random.Random, text: str) -> str:
    """Escape the text and wrap pieces of it in elements that do not break the line."""
    blank = rng.choice((" ", "&nbsp;", "&#160;", "\n  "))
    cuts = sorted(rng.sample(range(len(text) + 1), rng.choice((0, 2, 4))))
    pieces = [
        html.escape(text[start:end], quote=rng.random() < 0.3).replace(" ", blank)
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    pieces[1::2] = [rng.choice(WRAPS).replace("{}", piece) for piece in pieces[1::2]]
    return "".join(pieces)
