/** The memory that this process may use. */
import { totalmem } from 'node:os'

const MB = 2 ** 20

/** Of the machine, or of the control group where that has a lower limit; whole MB. */
export function machineMemoryMb(): number {
  // 0 or a number beyond all memory where there is no limit (Node 20 to 26).
  const constrained = process.constrainedMemory()
  return Math.floor((constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()) / MB)
}
