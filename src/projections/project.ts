/** One call for every runtime, and one for a whole list. Total: whatever is handed in, the answer is a projection. */
import { containerSubject, projectContainer } from './compose.ts'
import { at, brief, isList, isObject } from './document.ts'
import { projectTask, taskSubject } from './ecs.ts'
import { podSubject, projectPod } from './kubernetes.ts'
import { type Previous, type Projection, type Runtime, type Subject, undecidable } from './projection.ts'

interface Rules {
  readonly project: (document: unknown, previous: Previous) => Projection
  readonly subject: (document: unknown) => Subject
  /** Fields of a whole answer that hold the documents. */
  readonly lists: readonly string[]
  /** Fields of a whole answer that hold the one document. */
  readonly wraps: readonly string[]
}

const RULES: Readonly<Record<Runtime, Rules>> = {
  // The failures of DescribeTasks are told too: a task that was asked for and is not there.
  ecs: { project: projectTask, subject: taskSubject, lists: ['tasks', 'failures'], wraps: ['task', 'detail'] },
  kubernetes: { project: projectPod, subject: podSubject, lists: ['items'], wraps: ['object'] },
  compose: { project: projectContainer, subject: containerSubject, lists: [], wraps: [] },
}

/** Fields of a whole answer that hold its documents: `items`, `tasks`. */
export const listsOf = (runtime: Runtime): readonly string[] => RULES[runtime].lists

/** Which instance a document is of. */
export const subjectOf = (runtime: Runtime, document: unknown): Subject =>
  RULES[runtime].subject(unwrapped(runtime, document))

/**
 * The status of one instance from its document, as the runtime's own API has it; never throws.
 * @param document one task, Pod or container; the answer of StopTask and an event of EventBridge will do too
 * @param previous what is known of the instance from before
 */
export function project(runtime: Runtime, document: unknown, previous: Previous = {}): Projection {
  try {
    return RULES[runtime].project(unwrapped(runtime, document), previous)
  } catch (error) {
    // A document whose properties throw when they are read, as a proxy's may.
    const subject: Subject = {
      runtime,
      name: '?',
      instance: '',
      attributes: { service: null, replica: null, version: null },
    }
    const said = error instanceof Error ? brief(error.message) : 'it threw'
    return undecidable(subject, [`the document could not be read: ${said}`], ['plain data'])
  }
}

/**
 * Every instance of a whole answer, in its order: a list, DescribeTasks' `tasks`, `kubectl get pods -o json`, or one
 * document alone. What does not belong in it gets a line too.
 * @param previousOf what is known of an instance from before
 */
export function projectAll(
  runtime: Runtime,
  answer: unknown,
  previousOf: (subject: Subject) => Previous | undefined = () => undefined,
): readonly Projection[] {
  return documentsOf(runtime, answer).map((document) =>
    project(runtime, document, previousOf(subjectOf(runtime, document)) ?? {}),
  )
}

function documentsOf(runtime: Runtime, answer: unknown): readonly unknown[] {
  if (isList(answer)) return answer
  const lists = RULES[runtime].lists.map((name) => at(answer, name)).filter(isList)
  return lists.length > 0 ? lists.flat() : [answer]
}

/** The document itself, where it is handed in within an answer or an event. */
function unwrapped(runtime: Runtime, document: unknown): unknown {
  for (const name of RULES[runtime].wraps) {
    const inner = at(document, name)
    if (isObject(inner)) return inner
  }
  return document
}
