/** The public names of `holt/projections`: the status of instances of other runtimes, from their own documents. */
export { type Axes, classify, type Health, type HealthCause, type Status } from '../model/canonical.ts'
export type { DeathCause, DeathClass } from '../model/death.ts'
export { projectContainer } from './compose.ts'
export { projectTask } from './ecs.ts'
export { projectPod } from './kubernetes.ts'
export { project, projectAll, subjectOf } from './project.ts'
export {
  type Classified,
  type End,
  type NotConforming,
  type Previous,
  type Projection,
  RUNTIMES,
  type Runtime,
  type Subject,
  type Undecidable,
} from './projection.ts'
