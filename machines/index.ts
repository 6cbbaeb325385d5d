/** Every lifecycle by the kind of object it belongs to. */
import { askTurn } from './ask-turn.ts'
import { catalogSync } from './catalog-sync.ts'
import { delivery } from './delivery.ts'
import { draft } from './draft.ts'
import { firing } from './firing.ts'
import { handoff } from './handoff.ts'
import { incident } from './incident.ts'
import { key } from './key.ts'
import { ownership } from './ownership.ts'
import { agent, mcpServer } from './part.ts'
import { project } from './project.ts'
import { proposal } from './proposal.ts'
import { run } from './run.ts'
import { skill } from './skill.ts'
import { source } from './source.ts'
import type { Lifecycle } from './step.ts'
import { trigger } from './trigger.ts'

export const lifecycles = {
  source,
  key,
  trigger,
  agent,
  mcp_server: mcpServer,
  skill,
  project,
  ownership,
  firing,
  delivery,
  incident,
  run,
  handoff,
  proposal,
  ask_turn: askTurn,
  draft,
  catalog_sync: catalogSync,
} satisfies Record<string, Lifecycle>

/** A kind of object with a lifecycle. */
export type Kind = keyof typeof lifecycles
