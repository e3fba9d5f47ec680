"""Texts that try to act on who shows them: terminals, and browsers."""

# Colours, titles, cursor moves, the clipboard, links, bells, bidirectional overrides, line and paragraph separators.
TERMINAL = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x9b2J",
    "\x1b[A",
    "\rover",
    "\x08\x08\x7f",
    "\u202egnp.exe\u202c",
    "\u2066isolated\u2069",
    "a\u2028b\u2029c",
    "\ufeff\u200b\x00",
    "tab\tand\nline",
)
ALL_TERMINAL = " ".join(TERMINAL)

MARK = "window.hacked=1"
_VECTORS = (
    "<script>{}</script>",
    "<ScRiPt >{}</sCrIpT >",
    "<script src=data:text/javascript,{}></script>",
    "<img src=x onerror={}>",
    "<img src='x' onerror='{}'/>",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<body onload={}>",
    "<iframe srcdoc='<script>parent.{}</script>'></iframe>",
    "<iframe src=javascript:parent.{}></iframe>",
    "<a href=javascript:{} autofocus onfocus={}>x</a>",
    "<input autofocus onfocus={}>",
    "<details open ontoggle={}>",
    "<video><source onerror={}></video>",
    "<audio src=x onerror={}>",
    "<object data=javascript:{}></object>",
    "<embed src=javascript:{}>",
    "<form action=javascript:{}><button>x</form>",
    "<marquee onstart={}>",
    "<math><mtext><img src=x onerror={}></mtext></math>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<style onload={}></style>",
    "<link rel=stylesheet href=x onerror={}>",
    "<template><img src=x onerror={}></template>",
    "javascript:{}",
    "data:text/html,<script>{}</script>",
    "${{{}}}",
    "{{{{constructor.constructor('{}')()}}}}",
)
_WAYS_OUT = ("", "\"'>", "</script>", "--></style></title>", "<!--<script>", "\\u003c/script>\u2028")
XSS = tuple(out + vector.format(*[MARK] * vector.count("{}")) for out in _WAYS_OUT for vector in _VECTORS)
ALL_XSS = "".join(XSS)


def shown_safely(text):
    """Whether a terminal would only show this, line ends apart."""
    return all(character.isprintable() or character == "\n" for character in text)
