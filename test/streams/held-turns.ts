/** A scheduler that runs nothing until told to: turns without time. Used by the tests of the streams. */

export interface HeldTurns {
  readonly schedule: (task: () => void) => void
  /** Runs what is scheduled now, not what that schedules. */
  turn(): void
  /** Runs turns until nothing is scheduled; the number of turns. */
  settle(): number
  readonly waiting: number
}

export function heldTurns(): HeldTurns {
  let tasks: (() => void)[] = []
  const turn = (): void => {
    const due = tasks
    tasks = []
    for (const task of due) task()
  }
  return {
    schedule: (task) => {
      tasks.push(task)
    },
    turn,
    settle() {
      let turns = 0
      for (; tasks.length > 0; turns++) turn()
      return turns
    },
    get waiting() {
      return tasks.length
    },
  }
}
