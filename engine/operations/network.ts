/**
 * What operations of role network may call, and routes made by hand: what another thread answers by name, and
 * what is made on the network thread, for it asks other systems or puts the answers of several threads together.
 */
import type { AskTurnCalls } from '../ask/calls.ts'
import type { CredentialCalls, CredentialWrites } from '../credentials/calls.ts'
import type { EnvironmentCalls } from '../docker/environment.ts'
import type { McpToolTests } from '../mcp-tools/calls.ts'
import type { ModelNetworkCalls } from '../models/calls.ts'
import type { Trials } from '../polling/trials.ts'
import type { SlackCalls } from '../slack/calls.ts'
import type { PassedOn } from '../threads/who-answers.ts'
import type { TracingCalls } from '../tracing/calls.ts'
import type { EngineCalls } from '../whole-engine.ts'
import type { NetworkInput } from './input.ts'

type MadeThere =
  | keyof (ModelNetworkCalls & McpToolTests & EnvironmentCalls & Trials & TracingCalls & AskTurnCalls)
  | keyof SlackCalls
  | Exclude<keyof CredentialCalls, keyof CredentialWrites>
  | 'ingest'
  | 'tail'
  | 'read'
  | 'fetchFiring'
  | 'writerSilence'
  | 'close'

export type NetworkCalls = Pick<EngineCalls, PassedOn | MadeThere>

/** The engine as doors have it. */
export interface ServedEngine extends NetworkCalls {
  /** An operation by its id (operations/index.ts), on the thread that answers it. @throws SvcError as it does */
  perform(id: string, input: NetworkInput): Promise<unknown>
}
