/**
 * Who of Slack may do what: an admin maps people, by user id or e-mail address, to the scope of a credential; who is
 * not mapped may do nothing, and ask where everyone may. And the workspace that requests are taken of.
 */
import type { SlackPeople, SlackPeopleWrite, SlackPerson, SlackTeamBound } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { openSettings } from '../log/settings.ts'
import type { StoreHandle } from '../log/store/handle.ts'

/** Scopes, from the lowest; each has those before it. */
const RIGHTS = ['read', 'respond', 'admin'] as const
export type SlackRight = (typeof RIGHTS)[number]

/** Somebody in Slack, with what they may. */
export interface Mapped {
  /** Team and user, such as slack:T1:U1: the id of the caller. */
  id: string
  name: string
  scopes: SlackRight[]
}

export interface SlackPeopleSettings {
  get(): SlackPeople
  /** As checked and looked up by the caller. */
  put(people: SlackPeople): SlackPeople
  /** The scopes of a person; none where they are not mapped. @param everyone what all may who are not mapped */
  scopesOf(user: string, everyone: boolean): SlackRight[]
  nameOf(user: string): string | null
  team(): SlackTeamBound | null
  bindTeam(team: SlackTeamBound | null): void
}

const PEOPLE = 'slack_people'
const TEAM = 'slack_bound_team'
const NOBODY: SlackPeople = { people: [], everyone: 'read', proposals_channel: '' }

/** On the connection that has the settings. */
export function openSlackPeople(store: StoreHandle, clock: Clock): SlackPeopleSettings {
  const settings = openSettings(store, clock)
  const get = (): SlackPeople => settings.get<SlackPeople>(PEOPLE) ?? NOBODY
  const find = (user: string) => get().people.find((one) => one.user === user)
  return {
    get,
    put: (people) => {
      settings.put(PEOPLE, people)
      return people
    },
    scopesOf: (user, everyone) => {
      const right = find(user)?.rights ?? (everyone && get().everyone === 'read' ? 'read' : null)
      return right === null ? [] : scopesUpTo(right)
    },
    nameOf: (user) => find(user)?.name || null,
    team: () => settings.get<SlackTeamBound>(TEAM) ?? null,
    bindTeam: (team) => settings.put(TEAM, team ?? undefined),
  }
}

const scopesUpTo = (right: SlackRight): SlackRight[] => RIGHTS.slice(0, RIGHTS.indexOf(right) + 1)

/** What Slack says of somebody. */
export interface SlackUser {
  id: string
  name: string
}

/** Looks people up in Slack, by e-mail address. */
export type FindByEmail = (
  email: string,
) => Promise<{ user: SlackUser } | { error: string; isNobody: boolean }>

/**
 * What is stored of a mapping as it is entered: addresses are looked up once, so that a button never waits for that.
 * @throws SvcError invalid, naming the entry: it says nobody or twice the same, or nobody has the address
 */
export async function lookedUp(write: SlackPeopleWrite, find: FindByEmail): Promise<SlackPeople> {
  const people: SlackPerson[] = []
  for (const [i, { user = '', email = '', name = '', rights }] of write.people.entries()) {
    const place = `people[${i}]`
    if ((user === '') === (email === ''))
      fail('invalid', `${place} must have either user or email`, { field: place })
    const found = user === '' ? await find(email) : { user: { id: user, name: '' } }
    if ('error' in found && found.isNobody)
      fail('invalid', `${place}.email: nobody in the workspace has it`, { field: `${place}.email` })
    const known = 'user' in found ? found.user : null
    if (known && people.some((one) => one.user === known.id))
      fail('invalid', `${place}: the same person is there twice`, { field: place })
    people.push({
      ...{ user: known?.id ?? '', email, name: name || known?.name || '', rights },
      ...('error' in found ? { problem: found.error } : {}),
    })
  }
  return {
    people,
    everyone: write.everyone ?? 'read',
    proposals_channel: write.proposals_channel ?? '',
  }
}
