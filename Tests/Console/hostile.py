"""Texts that try to leave their place on a page. Each sets `window.hacked` if a browser runs it."""

RUN = [
    "<img src=x onerror=\"window.hacked=1\">",
    "</script><script>window.hacked=2</script>",
    "\"><svg onload=window.hacked=3>",
    "{{constructor.constructor('window.hacked=4')()}}",
    "javascript:window.hacked=5",
]
SHAPE = [
    "\u202eright to left override",
    "\u2066isolate without end",
    "Z" + "\u0336\u0315\u0300\u0301\u0302\u0303" * 200 + "algo",
    "x" * 100_000,
    "NUL \u0000 and ESC \u001b[31m and BEL \u0007",
    "lone surrogate \ud800 here",
    "tags \U000e0041\U000e0042 and zero\u200bwidth",
    "lines\n\n\n\n\nand\ttabs\r\n",
    "\u0639\u0631\u0628\u064a \u05e2\u05d1\u05e8\u05d9\u05ea",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji \U0001f1e9\U0001f1ea",
    " ",
    "_" * 3000,
]
LINKS = ["javascript:window.hacked=6", "data:text/html,<script>window.hacked=7</script>", "JaVaScRiPt:window.hacked=8",
         "\u0001javascript:window.hacked=9", "vbscript:x", "//evil.example/x", "https://shop.example/ok"]
