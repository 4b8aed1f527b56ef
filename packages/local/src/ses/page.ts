/**
 * The mailbox page: the latest emails, texts and webhooks, new ones on top. Everything that comes from them is set as
 * text, and an email's HTML is shown in a frame that runs no script.
 */
export const MAILBOX_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailbox</title>
<style>
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  header { display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap }
  h1 { margin: 0; font-size: 1.5rem }
  input { flex: 1; min-width: 12rem; font: inherit; padding: .4rem .6rem }
  details { border-bottom: 1px solid #8884 }
  summary { display: flex; gap: 1rem; padding: .6rem 0; cursor: pointer }
  summary b { flex: 1; overflow-wrap: anywhere }
  summary i { min-width: 4.5rem }
  summary i, summary span, time, dt { color: #888 }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; overflow-wrap: anywhere }
  dd { margin: 0 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: 1rem }
  iframe { width: 100%; height: 24rem; border: 1px solid #8884; background: #fff }
</style>
<header>
  <h1>Mailbox</h1>
  <input id="query" type="search" placeholder="Address, number, merchant, text, tag or message id" aria-label="Search">
  <span id="count" role="status"></span>
</header>
<main id="messages"></main>
<template id="message">
  <details>
    <summary><i></i><b></b><span></span><time></time></summary>
    <dl></dl>
    <pre></pre>
  </details>
</template>
<script type="module">
  const byId = (id) => document.getElementById(id)
  const shown = new Map()

  /** An email as any message is shown. */
  const emailShown = (email) => ({
    id: email.messageId,
    channel: 'email',
    to: [...email.destination.to, ...email.destination.cc, ...email.destination.bcc].join(', '),
    title: email.subject,
    body: email.body.text ?? '',
    html: email.body.html,
    facts: { From: email.from, 'Reply to': email.replyTo.join(', '), 'Message id': email.messageId, ...email.tags },
    at: email.at,
  })

  function show({ id, channel, to, title, body, html, facts, at }) {
    const node = byId('message').content.cloneNode(true).firstElementChild
    node.querySelector('i').textContent = channel
    node.querySelector('b').textContent = title
    node.querySelector('span').textContent = to
    node.querySelector('time').textContent = new Date(at * 1000).toLocaleTimeString()
    for (const [name, value] of Object.entries(facts)) {
      if (!value) continue
      node.querySelector('dl').append(
        Object.assign(document.createElement('dt'), { textContent: name }),
        Object.assign(document.createElement('dd'), { textContent: value }),
      )
    }
    node.querySelector('pre').textContent = body
    if (html) {
      const frame = document.createElement('iframe')
      frame.title = 'HTML of the email'
      frame.setAttribute('sandbox', '')
      frame.srcdoc = html
      node.append(frame)
    }
    byId('messages').prepend(node)
    shown.set(id, node)
  }

  async function refresh() {
    const query = byId('query').value
    try {
      const answer = await fetch('/store?q=' + encodeURIComponent(query))
      const { total, matching, emails, others } = await answer.json()
      // Typed on meanwhile: the answer is an old question's.
      if (query !== byId('query').value) return
      const messages = [...emails.map(emailShown), ...others].sort((a, b) => a.at - b.at)
      const wanted = new Set(messages.map(({ id }) => id))
      for (const [id, node] of shown) {
        if (wanted.has(id)) continue
        node.remove()
        shown.delete(id)
      }
      for (const message of messages) if (!shown.has(message.id)) show(message)
      byId('count').textContent =
        total + ' emails sent, ' + (matching > emails.length ? 'the latest ' + emails.length + ' shown' : emails.length + ' shown') +
        (others.length > 0 ? ', and ' + others.length + ' texts and webhooks' : '')
    } catch {
      byId('count').textContent = 'The local stack does not answer.'
    }
  }

  byId('query').addEventListener('input', () => {
    for (const node of shown.values()) node.remove()
    shown.clear()
    refresh()
  })
  setInterval(() => document.hidden || refresh(), 2000)
  refresh()
</script>
</html>
`;
