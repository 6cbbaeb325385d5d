/** A catalog file checked, planned and applied: a plan that was approved, or nothing. */
import { randomUUID } from 'node:crypto'
import type {
  Catalog,
  CatalogCheck,
  CatalogChecked,
  CatalogImport,
  CatalogImported,
  CatalogProblem,
} from '../../schemas/types.ts'
import type { Review } from '../changes/change-sets.ts'
import type { Edit } from '../changes/edit.ts'
import { MASK } from '../changes/plan.ts'
import type { Declared } from '../declared/declared.ts'
import { mintForNew } from '../declared/source-writes.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail, SvcError } from '../errors.ts'
import { readCatalog, updateCatalog } from './document/index.ts'
import { fingerprintOf } from './fingerprint.ts'
import { guardProblems } from './guards.ts'
import { refuse, stageCatalog } from './import.ts'
import { nameOfFile, type RememberedFiles } from './remembered.ts'
import { hiddenAt, isPlainAt, secretPlaces, withValues } from './secret-places.ts'
import { notCompared, warningsOf } from './warnings.ts'

const SECTIONS = ['sources', 'triggers', 'agents', 'mcp_servers', 'projects', 'skills'] as const
const CHECK: WriteBy = { caller: { id: 'check', name: 'check' }, origin: 'catalog' }

/** Every problem of a file, and the plan when it has one. @param compares as of CatalogFiles.check. */
export function checkFile(declared: Declared, body: CatalogCheck, compares: boolean): CatalogChecked {
  const { catalog, name: carried, problems, locate } = readCatalog(body.yaml)
  const name = nameOfFile(carried, body)
  const nothing = { warnings: [], plan: null, fingerprint: null, name }
  if (!catalog || problems.length) return { ...nothing, problems }
  const places = secretPlaces(catalog, declared.templates)
  const warnings = warningsOf(places, declared.env, locate)
  if (body.strict && warnings.length) return { ...nothing, problems: warnings }
  if (!compares) warnings.push(...notCompared(places, locate))
  // A value of its own for each, so that the plan says nothing about the one that is stored.
  const staged = compares
    ? catalog
    : withValues(
        catalog,
        plainOnes(catalog, declared.templates, () => randomUUID()),
      )
  const prune = body.prune ?? false
  try {
    const stage = (edit: Edit) => stageCatalog(declared, edit, staged, { prune, locate })
    const { plan, basis } = declared.changes.commit(CHECK, stage, true)
    const fingerprint = fingerprintOf(body.yaml, prune, plan, basis)
    return { problems: guardProblems(plan, catalog, body, locate), warnings, plan, fingerprint, name }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const found = error.extra.problems ?? [{ ...locate([]), path: '', message: error.message }]
    return { ...nothing, warnings, problems: found }
  }
}

/** All that an import takes from the text of a file, read where no events are stored. */
export interface CatalogRead {
  catalog: Catalog
  /** The name it is remembered by. */
  name: string
  warnings: CatalogProblem[]
  /** The text to remember: its secrets are masked, which an import takes for the stored ones. */
  kept: string
}

/** Nothing of the store is looked at. @throws SvcError invalid with every problem of the file itself */
export function readFile(
  { templates, env }: Pick<Declared, 'templates' | 'env'>,
  body: CatalogImport,
): CatalogRead {
  const { catalog, name: carried, problems, locate } = readCatalog(body.yaml)
  refuse(problems)
  const name = nameOfFile(carried, body)
  const places = secretPlaces(catalog!, templates)
  const warnings = warningsOf(places, env, locate)
  if (body.strict) refuse(warnings)
  return {
    catalog: catalog!,
    name,
    warnings,
    kept: body.dry_run ? '' : withoutSecrets(body.yaml, catalog!, templates),
  }
}

/**
 * Imports a file inside the caller's transaction and remembers it.
 * @param read of the file.
 * @throws SvcError invalid with every problem; conflict with the plan of now, when another was approved
 */
export function importFile(
  declared: Declared,
  files: RememberedFiles,
  body: CatalogImport,
  by: WriteBy,
  { catalog, name, warnings, kept }: CatalogRead,
): CatalogImported {
  // Only what is refused is looked up in the text again.
  let places: ReturnType<typeof readCatalog> | null = null
  const locate: ReturnType<typeof readCatalog>['locate'] = (path) => {
    places ??= readCatalog(body.yaml)
    return places.locate(path)
  }
  const prune = body.prune === true || body.mode === 'replace'
  const dryRun = body.dry_run ?? false
  let fingerprint = ''
  const review: Review = ({ plan, basis }) => {
    fingerprint = fingerprintOf(body.yaml, prune, plan, basis)
    requireApproved(body, fingerprint, plan)
    refuseGuards(guardProblems(plan, catalog, body, locate), plan)
  }
  const stage = (edit: Edit) => stageCatalog(declared, edit, catalog, { prune, locate })
  const { plan, changeSet } = declared.changes.commit(
    { ...by, why: body.why ?? by.why },
    stage,
    dryRun,
    review,
  )
  if (!dryRun) files.keep(name, kept, declared.clock.now())
  const keys = dryRun ? {} : mintForNew(declared, plan, by)
  const counts = countsOf(catalog)
  return {
    ok: true,
    dry_run: dryRun,
    change_set: changeSet,
    plan,
    fingerprint,
    name,
    warnings,
    ...keys,
    ...counts,
  }
}

function requireApproved(body: CatalogImport, fingerprint: string, plan: CatalogImported['plan']): void {
  if (body.fingerprint === undefined || body.fingerprint === fingerprint) return
  fail(
    'conflict',
    'nothing was applied: since that plan was made the instance, the file or what is done with it changed, and this is another plan',
    { plan, fingerprint },
  )
}

function refuseGuards(problems: readonly CatalogProblem[], plan: CatalogImported['plan']): void {
  const [first] = problems
  if (first) fail('invalid', first.message, { problems: [...problems], plan })
}

function withoutSecrets(yaml: string, catalog: Catalog, templates: Declared['templates']): string {
  const plain = plainOnes(catalog, templates, () => MASK)
  return plain.length ? updateCatalog(yaml, withValues(catalog, plain)) : yaml
}

function plainOnes(catalog: Catalog, templates: Declared['templates'], value: () => string) {
  return secretPlaces(catalog, templates)
    .filter(isPlainAt)
    .map((place): [typeof place, string] => [place, hiddenAt(place, value)])
}

function countsOf(catalog: Catalog) {
  const names = Object.fromEntries(
    SECTIONS.map((section) => [
      section,
      ((catalog[section] ?? []) as { name?: string }[]).map(({ name }) => name ?? ''),
    ]),
  )
  const counts = Object.fromEntries(SECTIONS.map((section) => [section, names[section]!.length]))
  return { ...(counts as Record<(typeof SECTIONS)[number], number>), names }
}
