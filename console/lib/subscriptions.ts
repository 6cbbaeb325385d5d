/** Subscriptions, seen from a trigger. */
import type { Agent, Operation, Subscription, Trigger } from '../../schemas/types.ts'

/** Whether it is told of this trigger: by its name, or with everything of a project that uses it. */
export function tells(
  { trigger, project }: Pick<Subscription, 'trigger' | 'project'>,
  { name, projects }: Pick<Trigger, 'name' | 'projects'>,
): boolean {
  return trigger === null ? project !== null && projects.includes(project) : trigger === name
}

/** What is typed as an address: a channel of Slack by its name, #shop-ops, or a URL as it is. */
export const addressOf = (typed: string): string => {
  const text = typed.trim()
  return text.startsWith('#') ? `slack://channel/${text.slice(1)}` : text
}

/** Whether it can be posted to. */
export const isAddress = (typed: string): boolean =>
  /^(https?:\/\/\S+|slack:\/\/channel\/\S+)$/.test(addressOf(typed))

type Wired = Pick<Agent, 'name' | 'project' | 'projects' | 'triggers'>

/**
 * What wires a trigger to these agents and to no others, in the projects where they are.
 * @returns no operation where nothing would change
 */
export function wakeOperations(
  trigger: string,
  wanted: readonly string[],
  agents: readonly Wired[],
): Operation[] {
  return agents.flatMap(({ name, project, projects, triggers }) => {
    const isWoken = triggers.includes(trigger)
    if (isWoken === wanted.includes(name)) return []
    const places = isWoken ? projects : [project ?? projects[0]].filter((id) => id !== undefined)
    return places.map((id): Operation => {
      const wake = isWoken ? null : { enabled: true }
      return { op: 'patch', kind: 'project', name: id, spec: { wakes: { [trigger]: { [name]: wake } } } }
    })
  })
}
