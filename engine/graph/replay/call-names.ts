/** Replays as callers know them; what passes calls on to the reader thread knows them by name. */
import type { Replay } from '../../../schemas/types.ts'
import type { Asked } from '../../calls.ts'

export interface ReplayAsked {
  from?: string | undefined
  to?: string | undefined
  /** Id of a run: the replay is of its chain, and from and to only narrow it. */
  result?: string | undefined
  /** Moments. */
  limit: number
  /** For a key of the project: what it may see of it. */
  isAlone?: boolean
}

export interface ReplayReads {
  /**
   * @param project id or name.
   * @throws SvcError not_found for an unknown project or run; invalid, naming the field
   */
  replay(project: string, asked: ReplayAsked, by?: Asked): Promise<Replay>
}
