"""Pages for people: templates, words in two languages, styles, scripts. They read no database."""
