// What the servers beside Holt answer: an object of the same shape and size.
const startedAt = Date.now()

export const summary = () => ({
  name: 'holt',
  version: '0.1.0',
  host: 'h_0123456789abcdef',
  uptimeMs: Date.now() - startedAt,
  counts: { Running: 1 },
})
