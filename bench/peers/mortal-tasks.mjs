/** Tasks of a pool: one answers, one ends its thread by an error that nothing catches. */
export const echo = (n) => n

export const die = () =>
  new Promise(() => {
    setImmediate(() => {
      throw new Error('die')
    })
  })
