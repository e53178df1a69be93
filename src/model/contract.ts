/**
 * The types by which a caller's `tell`, `emit` and `ask` are checked against a role, end to end. Structural, so that
 * no room has to import another for them.
 */

/** Anything with handlers: a role as `defineRole` returns it. */
export interface RoleShape {
  readonly events?: Readonly<Record<string, (payload: never, ...rest: never[]) => unknown>>
  readonly commands?: Readonly<Record<string, { handle(input: never, ...rest: never[]): unknown }>>
}

/** When nothing is known of an agent's roles, any name and any payload go. */
export interface AnyRole {
  readonly events: Readonly<Record<string, (payload: unknown) => unknown>>
  readonly commands: Readonly<Record<string, { handle(input: unknown): unknown }>>
}

type Payload<F> = F extends (payload: infer P, ...rest: never[]) => unknown ? P : undefined
/** A payload that may be left out where the handler takes none. */
type Args<P, O> = unknown extends P
  ? [payload?: unknown, options?: O]
  : undefined extends P
    ? [payload?: P, options?: O]
    : [payload: P, options?: O]

export type EventName<R extends RoleShape> = Extract<keyof NonNullable<R['events']>, string>
export type EventArgs<R extends RoleShape, N extends EventName<R>, O> = Args<Payload<NonNullable<R['events']>[N]>, O>
export type CommandName<R extends RoleShape> = Extract<keyof NonNullable<R['commands']>, string>
type Handle<R extends RoleShape, N extends CommandName<R>> = NonNullable<R['commands']>[N]['handle']
export type CommandArgs<R extends RoleShape, N extends CommandName<R>, O> = Args<Payload<Handle<R, N>>, O>
export type Reply<R extends RoleShape, N extends CommandName<R>> = Awaited<ReturnType<Handle<R, N>>>
