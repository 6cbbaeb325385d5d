/** Every lifecycle by the kind of object it belongs to. */
import { key } from './key.ts'
import { source } from './source.ts'
import type { Lifecycle } from './step.ts'

export const lifecycles = { source, key } satisfies Record<string, Lifecycle>
export type Kind = keyof typeof lifecycles
