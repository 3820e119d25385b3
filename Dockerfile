# An image of `dedup`: no compiler, no root. Compiled code and the tables are made here (the build takes a compiler
# along), so a container makes nothing and needs no file system that can be written to but the volume of the index.
#
#     docker build --tag dedup .
#     docker run --rm --read-only --user 1234 dedup inspect 水是生命之源。
FROM python:3.12-slim AS built
RUN python -m venv /opt/dedup
COPY pyproject.toml CMakeLists.txt README.md LICENSE /source/
COPY configs /source/configs
COPY src /source/src
COPY dedup_job /source/dedup_job
RUN /opt/dedup/bin/pip install --no-cache-dir --disable-pip-version-check /source
ENV XDG_CACHE_HOME=/opt/dedup/made/cache
RUN /opt/dedup/bin/dedup inspect --text 水 --text 火 > /dev/null && chmod -R a+rX,go-w /opt/dedup

FROM python:3.12-slim
COPY --from=built /opt/dedup /opt/dedup
RUN groupadd --gid 10001 dedup \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent dedup \
    && install --directory --owner=10001 --group=10001 /var/lib/dedup
# The same place of the tables as above.
ENV PATH=/opt/dedup/bin:$PATH \
    XDG_CACHE_HOME=/opt/dedup/made/cache \
    DEDUP_INDEX__FOLDER=/var/lib/dedup
VOLUME /var/lib/dedup
USER 10001:10001
ENTRYPOINT ["dedup"]
CMD ["--help"]
