/**
 * The mailbox page: the latest emails, new ones on top. Everything that comes from an email is set as text,
 * and its HTML is shown in a frame that runs no script.
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
  summary span, time, dt { color: #888 }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; overflow-wrap: anywhere }
  dd { margin: 0 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: 1rem }
  iframe { width: 100%; height: 24rem; border: 1px solid #8884; background: #fff }
</style>
<header>
  <h1>Mailbox</h1>
  <input id="query" type="search" placeholder="Address, subject, tag or message id" aria-label="Search">
  <span id="count" role="status"></span>
</header>
<main id="emails"></main>
<template id="email">
  <details>
    <summary><b></b><span></span><time></time></summary>
    <dl></dl>
    <pre></pre>
  </details>
</template>
<script type="module">
  const byId = (id) => document.getElementById(id)
  const shown = new Map()

  function show(email) {
    const node = byId('email').content.cloneNode(true).firstElementChild
    const { to, cc, bcc } = email.destination
    node.querySelector('b').textContent = email.subject
    node.querySelector('span').textContent = [...to, ...cc, ...bcc].join(', ')
    node.querySelector('time').textContent = new Date(email.at * 1000).toLocaleTimeString()
    const facts = { From: email.from, 'Reply to': email.replyTo.join(', '), 'Message id': email.messageId, ...email.tags }
    for (const [name, value] of Object.entries(facts)) {
      if (!value) continue
      node.querySelector('dl').append(
        Object.assign(document.createElement('dt'), { textContent: name }),
        Object.assign(document.createElement('dd'), { textContent: value }),
      )
    }
    node.querySelector('pre').textContent = email.body.text ?? ''
    if (email.body.html) {
      const frame = document.createElement('iframe')
      frame.title = 'HTML of the email'
      frame.setAttribute('sandbox', '')
      frame.srcdoc = email.body.html
      node.append(frame)
    }
    byId('emails').prepend(node)
    shown.set(email.messageId, node)
  }

  async function refresh() {
    const query = byId('query').value
    try {
      const answer = await fetch('/store?q=' + encodeURIComponent(query))
      const { total, matching, emails } = await answer.json()
      // Typed on meanwhile: the answer is an old question's.
      if (query !== byId('query').value) return
      const wanted = new Set(emails.map((email) => email.messageId))
      for (const [id, node] of shown) {
        if (wanted.has(id)) continue
        node.remove()
        shown.delete(id)
      }
      for (const email of emails) if (!shown.has(email.messageId)) show(email)
      byId('count').textContent =
        total + ' sent, ' + (matching > emails.length ? 'the latest ' + emails.length + ' shown' : emails.length + ' shown')
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
