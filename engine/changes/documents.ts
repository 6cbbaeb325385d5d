/**
 * The documents of what is declared, by kind: parts as their schemas have them, and projects. What is stored of a kind
 * was checked against its schema, or made here, before it was written.
 */
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type {
  AgentSpec,
  McpServerSpec,
  Operation,
  SkillSpec,
  SourceSpec,
  TriggerSpec,
} from '../../schemas/types.ts'

export type ChangeKind = Operation['kind']
export const partKinds = ['source', 'mcp_server', 'skill', 'trigger', 'agent'] as const
export type PartKind = (typeof partKinds)[number]
/** In the order to make them: what is referred to comes first. */
export const changeKinds = [...partKinds, 'project'] as const satisfies readonly ChangeKind[]

/** A declared object of any kind with its secrets in the clear, field by field; treat as immutable. */
export type Doc = Readonly<Record<string, unknown>>

/** How a project uses a part: `owned` when it belongs to it, not only shared with it. */
export interface Use {
  owned?: true
}
/**
 * An object of a template's plan; `digest` of the spec as planned, without secrets, of which `secrets`
 * is a keyed hash.
 */
export interface Planned {
  name: string
  digest: string
  secrets?: string
  adopted?: true
}
/** What pausing the project stopped, so that resuming restores exactly that. */
export interface Stopped {
  wakes?: Record<string, Record<string, true>>
  triggers?: Record<string, true>
  sources?: Record<string, true>
}

/** A project. Sets and relations are objects by name, so that two writers who touch different ones never meet. */
export interface ProjectDoc {
  name: string
  template: string
  goal?: string
  description?: string
  params?: Record<string, unknown>
  uses: Partial<Record<PartKind, Record<string, Use>>>
  /** Trigger → agent it wakes. */
  wakes?: Record<string, Record<string, { enabled: boolean }>>
  /** Agent → verdict → agent that takes over. */
  handoffs?: Record<string, Record<string, Record<string, { cooldown: string }>>>
  /** Kind → key in the template's plan. */
  plan?: Partial<Record<PartKind, Record<string, Planned>>>
  stopped?: Stopped
  paused?: true
  draft?: true
  /** Made by guided setup. */
  setup?: true
}

/** What any part may say beside its own fields. */
interface Guarded {
  /** It is not deleted. */
  prevent_destroy?: boolean
}

interface Documents {
  source: SourceSpec & Guarded
  mcp_server: McpServerSpec & Guarded
  skill: SkillSpec & Guarded
  trigger: TriggerSpec & Guarded
  agent: AgentSpec & Guarded
  project: ProjectDoc
}

/**
 * A declared object with its secrets in the clear; treat as immutable.
 * @example
 * const trigger: DocumentOf<'trigger'> | undefined = kinds.trigger.find('gateway-errors')?.doc
 */
export type DocumentOf<K extends ChangeKind> = FieldsOf<Documents[K]>

/** A document whose kind is said beside it. @param doc stored, staged or recorded as one of that kind */
export const documentOf = <K extends ChangeKind>(_kind: K, doc: Doc): DocumentOf<K> => doc as DocumentOf<K>
