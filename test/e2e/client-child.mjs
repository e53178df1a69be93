// A program of its own: follows the facts of a host through `holt/client` and prints the seq of each, one a line.
const { client, options, since } = JSON.parse(process.argv[2])
const { connect } = await import(client)
const host = await connect(options)
const facts = host.facts(since === undefined ? {} : { since })
facts.subscribe({
  next: ({ kind, seq, data }) => console.log(JSON.stringify(kind === 'stream.gap' ? { gap: data } : { seq })),
  error: (error) => console.log(JSON.stringify({ error: error.message })),
})
console.log('"following"')
