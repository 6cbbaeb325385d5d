/** Change-sets as a caller composes them: a list of operations on parts and projects. */

import { articleOf, kindWord } from '../../schemas/kinds.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import type { ChangeApplied, ChangeSetCreate, Operation, Wake } from '../../schemas/types.ts'
import { keepAgentSecrets, normaliseAgent } from '../documents/agent.ts'
import { changeKindOf } from '../documents/change-sets.ts'
import { normaliseEntity } from '../documents/entity.ts'
import { keepMcpSecrets, normaliseMcpServer } from '../documents/mcp-server.ts'
import { checkSkillName, normaliseSkill } from '../documents/skill.ts'
import { normaliseTrigger } from '../documents/trigger.ts'
import { fail, SvcError } from '../errors.ts'
import {
  type ChangeKind,
  type Doc,
  documentOf,
  type Edit,
  isPart,
  mergePatch,
  type PartKind,
  syncModes,
} from '../model/documents.ts'
import { DEFAULT_TEMPLATE, findProject, isSaidOff, projectOf, putProject, usersOf } from '../model/project.ts'
import { normaliseSource } from '../sources/config-secrets.ts'
import type { Belonging } from '../sources/sources.ts'
import {
  checkName,
  type Declared,
  joiningProject,
  joinProject,
  stagePaused,
  type WriteBy,
} from './declared.ts'
import { normaliseProject } from './projects/project-spec.ts'
import { pauseProject, resumeProject, withoutNotes } from './projects/remove.ts'

/** Applies operations in order, all or nothing; with dry_run only plans. @throws SvcError */
export function applyOperations(declared: Declared, body: ChangeSetCreate, by: WriteBy): ChangeApplied {
  const { plan, changeSet } = declared.changes.commit(
    by,
    (edit) => stageOperations(declared, edit, body.operations, body.base),
    body.dry_run ?? false,
  )
  return { change_set: changeSet, plan, version: declared.changes.version() }
}

/** Stages operations in order. @param base version their writer saw. @throws SvcError */
export function stageOperations(
  declared: Declared,
  edit: Edit,
  operations: readonly Operation[],
  base: number | undefined,
): void {
  operations.forEach((operation, i) => {
    const at = `operations[${i}]`
    try {
      stageOperation(declared, edit, operation, base, at)
    } catch (error) {
      if (!(error instanceof SvcError) || operations.length === 1 || error.message.startsWith(at)) throw error
      // Of many, which one breaks the rule.
      const { code, message, extra } = error
      throw new SvcError(
        code,
        `${at} (${kindWord(changeKindOf(operation.kind))} ${operation.name}): ${message}`,
        extra,
      )
    }
  })
}

/** Stages one operation of a list. @param at what its errors call it. @throws SvcError */
export function stageOperation(
  declared: Declared,
  edit: Edit,
  operation: Operation,
  base: number | undefined,
  at: string,
) {
  const kind = changeKindOf(operation.kind)
  const key = kind === 'project' ? (findProject(edit, operation.name) ?? operation.name) : operation.name
  if (operation.op !== 'put' && !edit.has(kind, key))
    fail('not_found', `${at}: ${absence(declared, edit, kind, operation.name)}`)
  if (operation.op === 'delete') {
    edit.removeAsSeen(kind, key, base)
    return
  }
  if (operation.op === 'move') {
    stageMove(edit, kind, key, operation.event ?? '', at)
    return
  }
  const spec = operation.spec ?? fail('invalid', `${at}.spec is required`, { field: `${at}.spec` })
  const now = edit.get(kind, key)
  const given =
    operation.op === 'patch'
      ? {
          ...(mergePatch(declared.kinds[kind].mask(now!), spec) as Doc),
          ...(spec.prevent_destroy === null ? { prevent_destroy: false } : {}),
          ...(spec.sync === null ? { sync: null } : {}),
        }
      : spec
  const doc = normaliseSpec(edit, kind, key, given)
  edit.put(kind, key, doc, base)
  if (kind === 'project' && operation.op === 'patch') stayOff(edit, key, spec)
  if (isPart(kind)) stageJoin(edit, kind, key, operation.project, now === undefined)
}

/** That a part is not there, with the name that it has now, or one that is meant perhaps. */
function absence({ changes }: Declared, edit: Edit, kind: ChangeKind, name: string): string {
  const none = `no ${kindWord(kind)} is named ${name}`
  if (kind === 'project') return none
  const now = changes.renames.nowOf(kind, name)
  return now === null || !edit.has(kind, now)
    ? none + didYouMean(name, edit.all(kind).keys())
    : `${none}; it is called ${now} now`
}

/** Wakes of a patch that was checked, by name or as a list; null takes one away. */
function wakeRows(wakes: unknown): Wake[] {
  if (Array.isArray(wakes)) return wakes as Wake[]
  return Object.entries((wakes ?? {}) as Record<string, Record<string, object | null> | null>).flatMap(
    ([trigger, agents]) => Object.entries(agents ?? {}).map(([agent, wake]) => ({ ...wake, trigger, agent })),
  )
}

/** A patch that switches a wake off says so also where a pause has it off: resuming leaves it off then. */
function stayOff(edit: Edit, id: string, { wakes }: Doc): void {
  const doc = projectOf(edit, id)
  const off = wakeRows(wakes).filter(isSaidOff)
  if (doc.paused && off.length > 0) putProject(edit, id, withoutNotes(doc, off))
}

function stageJoin(edit: Edit, kind: PartKind, name: string, word: string | undefined, isNew: boolean): void {
  if (!isNew && word === undefined) return
  const project = joiningProject(edit, word)
  if (isNew || !usersOf(edit, kind, name).includes(project)) joinProject(edit, kind, name, project, isNew)
}

/**
 * A document as given, checked and in canonical form; omitted secrets are those stored.
 * @throws SvcError invalid, naming the object, the field and the rule
 */
export function normaliseSpec(edit: Edit, kind: ChangeKind, key: string, spec: Doc): Doc {
  const { prevent_destroy: guard, sync, ...given } = spec
  const doc = normaliseFields(edit, kind, key, given)
  if (guard !== undefined && (kind === 'project' || typeof guard !== 'boolean'))
    fail('invalid', 'prevent_destroy must be true or false, and is of a part or an entity', {
      field: 'prevent_destroy',
    })
  const isMode = sync === null || syncModes.some((mode) => mode === sync)
  if (sync !== undefined && (kind === 'project' || !isMode))
    fail('invalid', `sync must be one of ${syncModes.join(', ')}, and is of a part`, { field: 'sync' })
  return {
    ...doc,
    ...(guard === undefined ? {} : { prevent_destroy: guard }),
    ...(sync === undefined ? {} : { sync }),
  }
}

function normaliseFields(edit: Edit, kind: ChangeKind, key: string, given: Doc): Doc {
  if (kind === 'project') return normaliseProject(edit, key, given)
  if (kind === 'entity') {
    if (!edit.has(kind, key)) checkName(kind, key)
    return { ...normaliseEntity(given) }
  }
  const now = edit.get(kind, key)
  const unreadable = edit.stored(kind, key)?.unreadable ?? []
  return normalisePart(kind, key, given, now && { doc: now, unreadable })
}

/** As normaliseSpec, of a part as if none of its name were there: nothing that is stored is kept. */
export function normaliseNew(kind: PartKind, key: string, given: Doc): Doc {
  return normalisePart(kind, key, given, undefined)
}

function normalisePart(
  kind: PartKind,
  key: string,
  given: Doc,
  stored: { doc: Doc; unreadable: readonly string[] } | undefined,
): Doc {
  if (!stored && kind !== 'skill') checkName(kind, key)
  if (kind === 'trigger') return { ...normaliseTrigger(documentOf('trigger', given)) }
  if (kind === 'agent') return { ...normaliseAgent(keepAgentSecrets(given, stored)) }
  if (kind === 'mcp_server') return { ...normaliseMcpServer(keepMcpSecrets(given, stored)) }
  if (kind === 'skill') {
    checkSkillName(key)
    return { ...normaliseSkill(given) }
  }
  const source = stored && {
    connector: String(stored.doc.connector),
    config: (stored.doc.config ?? {}) as Record<string, unknown>,
    unreadable: [...stored.unreadable],
  }
  return normaliseSource(documentOf('source', given), source)
}

function stageMove(edit: Edit, kind: ChangeKind, key: string, event: string, at: string): void {
  if (event !== 'pause' && event !== 'resume')
    fail('invalid', `${at}.event must be pause or resume`, { field: `${at}.event` })
  if (kind === 'project' && event === 'pause') pauseProject(edit, key, false)
  else if (kind === 'project') resumeProject(edit, key)
  else if (kind === 'source' || kind === 'trigger') {
    stagePaused(edit, kind, key, event)
  } else
    fail(
      'invalid',
      `${at}: ${articleOf(kindWord(kind))} ${kindWord(kind)} is not paused; switch its wiring off`,
      {
        field: at,
      },
    )
}

/* Whose parts are: the project they belong to, those that use them, and whether a hand edited them. */

/** Looks everything up once, for lists. */
export function belongings({ kinds, projects }: Declared): (kind: PartKind, name: string) => Belonging {
  const users = new Map<string, string[]>()
  const owner = new Map<string, string>()
  for (const { key: id, doc } of kinds.project.list()) {
    const { uses, template } = doc
    for (const [kind, names] of Object.entries(uses))
      for (const [name, use] of Object.entries(names ?? {})) {
        const part = `${kind}:${name}`
        users.set(part, [...(users.get(part) ?? []), id])
        if (use.owned && template !== DEFAULT_TEMPLATE) owner.set(part, id)
      }
  }
  const customized = new Set(
    projects
      .planned()
      .filter(({ state }) => state === 'customized')
      .map(({ kind, name }) => `${kind}:${name}`),
  )
  return (kind, name) => {
    const part = `${kind}:${name}`
    return {
      owned_by: owner.get(part) ?? null,
      customized: customized.has(part),
      projects: (users.get(part) ?? []).sort(),
    }
  }
}
