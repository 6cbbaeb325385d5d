/** Edits of a plan that keep together what names each other. */
import type { Plan, PlanAgent, PlanWake, PlanWatch } from '../../schemas/types.ts'

interface Row {
  key: string
  name: string
}

export const withRow = <T extends { key: string }>(rows: readonly T[], row: T): T[] =>
  rows.some(({ key }) => key === row.key)
    ? rows.map((other) => (other.key === row.key ? row : other))
    : [...rows, row]

/** @returns what a name is after the row took the place of the one with its key. */
function renaming<T extends Row>(rows: readonly T[], row: T): (name: string) => string {
  const before = rows.find(({ key }) => key === row.key)?.name ?? ''
  // A name that another row has as well does not say which of them is meant.
  const isOwn = before !== '' && row.name !== '' && rows.filter(({ name }) => name === before).length === 1
  return (name) => (isOwn && name === before ? row.name : name)
}

/** With a source that is new, or takes another's place: triggers that read that one read it. */
export function withWatch(plan: Plan, watch: PlanWatch): Plan {
  const now = renaming(plan.watches, watch)
  return {
    ...plan,
    watches: withRow(plan.watches, watch),
    wakes: plan.wakes.map((wake) => ({ ...wake, sources: wake.sources.map(now) })),
  }
}

/** With a trigger: agents that its name woke before are woken by it. */
export function withWake(plan: Plan, wake: PlanWake): Plan {
  const now = renaming(plan.wakes, wake)
  return {
    ...plan,
    wakes: withRow(plan.wakes, wake),
    agents: plan.agents.map((agent) => ({ ...agent, trigger: now(agent.trigger) })),
  }
}

/** With an agent: handoffs that named it before go to it. */
export function withAgent(plan: Plan, agent: PlanAgent): Plan {
  const now = renaming(plan.agents, agent)
  const agents = withRow(plan.agents, agent).map((other) => ({
    ...other,
    handoffs: other.handoffs.map((rule) => ({ ...rule, agent: now(rule.agent) })),
  }))
  return { ...plan, agents }
}
