/** What a lifecycle takes in a situation: a state, and the context that matters. */

export interface Situation {
  state: string
  context?: Record<string, unknown>
  /** Nothing more is taken. */
  isFinal?: true
  /** Event → the next state, or the next state with its context, the event's payload and effects. */
  takes: Record<string, string | Taken>
}
export interface Taken {
  to: string
  context?: Record<string, unknown>
  /** What the event brings with it. */
  brings?: Record<string, unknown>
  /** The named effects, in order. */
  effects?: { type: string; params?: unknown }[]
}
