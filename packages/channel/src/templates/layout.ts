/**
 * The frame of every email. `greeting`, `body` and `footer` come rendered, in HTML with their values escaped;
 * `lang` and `dir` are ours; `link` is empty where there is none. Everything else is escaped here.
 */
export const textLayout = `{% if greeting %}{{ greeting }}

{% endif %}{{ body }}

{{ labels.parcel }}: {{ parcel }}
{{ labels.merchant }}: {{ merchant }}
{{ labels.when }}: {{ when }}

{% if link %}{{ track }}
{{ link }}

{% endif %}{{ footer }}
`;

export const htmlLayout = `<!doctype html>
<html lang="{{ lang | raw }}" dir="{{ dir | raw }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ subject | escape | raw }}</title>
</head>
<body style="margin:0 auto;max-width:560px;padding:24px;font:16px/1.5 sans-serif;color:#1c2430">
{% if greeting %}<p>{{ greeting | raw }}</p>
{% endif %}<p>{{ body | raw }}</p>
<table style="border-collapse:collapse">
<tr><th scope="row" style="padding-inline-end:16px;text-align:start">{{ labels.parcel }}</th><td>{{ parcel }}</td></tr>
<tr><th scope="row" style="padding-inline-end:16px;text-align:start">{{ labels.merchant }}</th><td>{{ merchant }}</td></tr>
<tr><th scope="row" style="padding-inline-end:16px;text-align:start">{{ labels.when }}</th><td>{{ when }}</td></tr>
</table>
{% if link %}<p><a href="{{ link | escape | raw }}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1f5fbf;color:#fff;text-decoration:none">{{ track }}</a></p>
{% endif %}<p style="font-size:13px;color:#5b6676">{{ footer | raw }}</p>
</body>
</html>
`;
