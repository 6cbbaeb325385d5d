/** The sources of a plan: their connectors, configs and the secrets that are still to be entered. */
import type { Connector, Plan, PlanWatch } from '../../../schemas/types.ts'
import { checkName } from '../../declared/write.ts'
import { normaliseSource } from '../../sources/check-write.ts'
import { heeding, type Report, tellDuplicates } from './found.ts'
import type { SetupWorld } from './world.ts'

/** Named by what stands for a secret that is not entered yet while the rest is checked; no variable of anybody's. */
export const STAND_IN_NAME = 'SVC_SECRET_NOT_ENTERED'
const STAND_IN = `\${${STAND_IN_NAME}}`

/** @param withSecrets whether what cannot be made without its secret is a problem. */
export function checkWatches(
  plan: Plan,
  world: SetupWorld,
  withSecrets: boolean,
  report: Report,
): PlanWatch[] {
  if (plan.watches.length === 0)
    report('watches', 'nothing is watched: add a source, or use one that is here already')
  tellDuplicates(report, 'watches', plan.watches)
  return plan.watches.map((watch) =>
    watch.existing ? existingWatch(watch, world, report) : newWatch(watch, world, withSecrets, report),
  )
}

function existingWatch(watch: PlanWatch, world: SetupWorld, report: Report): PlanWatch {
  const found = world.source(watch.name)
  if (!found)
    report(`watches.${watch.key}`, `no source is named ${watch.name || 'nothing'}; take one that is here`)
  return { ...watch, connector: found?.connector ?? watch.connector, needs: 'none', secrets: [] }
}

function newWatch(watch: PlanWatch, world: SetupWorld, withSecrets: boolean, report: Report): PlanWatch {
  const where = `watches.${watch.key}`
  const known = world.connectors[watch.connector]
  if (!known) {
    const all = Object.keys(world.connectors).join(', ')
    report(
      where,
      `connector ${watch.connector ? `${watch.connector} is not known` : 'is required'}; there are ${all}`,
    )
    return { ...watch, needs: 'none', secrets: [] }
  }
  heeding(report, where, () => checkName('source', watch.name))
  const open = secretsOf(known, watch.config)
  const missing = open.filter(({ required }) => required)
  const doc = heeding(report, where, () => normalise(watch, known, missing))
  if (withSecrets)
    for (const { field, help } of missing) report(where, `${field} is required: ${help.replace(/\.$/, '')}`)
  const isPush = known.mode === 'push'
  return {
    ...watch,
    ...(doc ?? {}),
    // Events come to it without a credential of ours.
    secrets: isPush ? [] : open,
    needs: isPush ? 'send' : missing.length ? 'credential' : 'none',
    sample: isPush ? watch.sample : null,
  }
}

function secretsOf(known: Connector, config: Record<string, unknown>): PlanWatch['secrets'] {
  return known.fields
    .filter(({ name, secret }) => secret && !config[name])
    .map(({ name, help, required }) => ({ field: name, help, required }))
}

/** Poll and config in canonical form, without what stands in. @throws SvcError */
function normalise(
  { connector, poll, config }: PlanWatch,
  known: Connector,
  missing: readonly { field: string }[],
): Pick<PlanWatch, 'poll' | 'config'> {
  const stoodIn = Object.fromEntries(missing.map(({ field }) => [field, STAND_IN]))
  const isPoll = known.mode === 'poll'
  const given = { connector, config: { ...config, ...stoodIn }, ...(isPoll && poll ? { poll } : {}) }
  const { config: canonical } = normaliseSource(given, undefined) as { config?: Record<string, unknown> }
  const kept = Object.entries(canonical ?? {}).filter(([name]) => !(name in stoodIn))
  return { config: Object.fromEntries(kept), poll: isPoll ? poll : null }
}

/** A plan whose sources could be made: what stands in for a secret is never written. */
export function withStandIns(plan: Plan): Plan {
  return {
    ...plan,
    watches: plan.watches.map((watch) => {
      const missing = watch.secrets.filter(({ required }) => required)
      const stoodIn = Object.fromEntries(missing.map(({ field }) => [field, STAND_IN]))
      return { ...watch, config: { ...watch.config, ...stoodIn } }
    }),
  }
}
