/**
 * What operations of role network may call, and routes made by hand: what another thread answers by name, and
 * what is made on the network thread, for it asks other systems or puts the answers of several threads together.
 */

import type { EngineCalls, NetworkOnly, Writer } from '../roles/calls.ts'
import type { PassedOn } from '../roles/who-answers.ts'
import type { SlackWrites } from '../slack/calls.ts'
import type { NetworkInput } from './input.ts'

/** The network role answers these for doors itself, with the help of the store. */
type MadeThere = NetworkOnly | keyof SlackWrites | 'ingest' | 'read' | 'close'

export type NetworkCalls = Pick<EngineCalls, PassedOn | MadeThere>

/** The engine as doors have it. */
export interface ServedEngine extends NetworkCalls {
  /** An operation by its id (operations/index.ts), on the role that answers it. @throws SvcError as it does */
  perform(id: string, input: NetworkInput): Promise<unknown>
}

/**
 * An engine whose roles all run on the caller's thread: what a door sees of one, and every call of its writer, for
 * tests and tools to look at.
 */
export type LocalEngine = Writer & ServedEngine
