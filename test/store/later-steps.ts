/** Migrations as a later version may have them. */
import type { Migration } from '../../src/store/migrations.ts'

/** Three steps; the process is killed when half of the `deadly` one is done. */
export const laterSteps = (deadly = 0): readonly Migration[] =>
  [1, 2, 3].map((number) => ({
    name: `step ${number}`,
    up: (connection) => {
      connection.exec(`CREATE TABLE step${number} (x); INSERT INTO step${number} VALUES (1)`)
      if (number === deadly) process.kill(process.pid, 'SIGKILL')
      connection.exec(`CREATE TABLE more${number} (x)`)
    },
  }))
