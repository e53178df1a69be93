/** Exit codes of the command itself; those of errors are in the table of `model/error.ts`. */
export const EXIT = { done: 0, unforeseen: 1, output: 74 } as const
