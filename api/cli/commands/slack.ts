/** `svc slack`: the app that Slack makes of a manifest, its check, and who of Slack may do what. */
import { Argument } from 'commander'
import type { SlackPeople, SlackPeopleWrite, SlackPerson } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { CliError } from '../exit.ts'
import { type Column, escapeLine } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, verb } from '../verbs.ts'

const PEOPLE: Column<SlackPerson>[] = [
  { title: 'USER', cell: ({ user }) => user || 'not found' },
  { title: 'E-MAIL', cell: ({ email }) => email },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'RIGHTS', cell: ({ rights }) => rights },
]

const RIGHTS = ['read', 'respond', 'admin'] as const satisfies readonly SlackPerson['rights'][]

const isMeant = ({ user, email }: SlackPerson, who: string): boolean =>
  user === who || (email !== '' && email.toLowerCase() === who.toLowerCase())

/** Somebody as the mapping takes them: by their address where they were entered by it. */
const asWritten = ({ user, email, name, rights }: SlackPerson): SlackPeopleWrite['people'][number] => ({
  ...(email ? { email } : { user }),
  ...(name ? { name } : {}),
  rights,
})

/** The mapping is replaced as a whole; what else it says stays. */
const writtenOf = (now: SlackPeople, people: SlackPeopleWrite['people']): { body: SlackPeopleWrite } => ({
  body: { people, everyone: now.everyone, proposals_channel: now.proposals_channel },
})

const counted = (count: number): string => `${count} ${count === 1 ? 'person is' : 'people are'}`

/** The command and its subcommands. */
export const slackCommand = noun(
  'slack',
  'Show the manifest of the Slack app, check it, and say who may do what',
  {
    manifest: verb({
      does: 'Print the manifest, for Slack to make the app of',
      call: calls.getSlackManifest,
      tell: (io, { manifest, request_url }) => {
        io.out(`${JSON.stringify(manifest, null, 2)}\n`)
        if (request_url === null)
          io.err('SVC_PUBLIC_URL is not set: put the address of this instance in place of svc.example.com\n')
      },
    }),
    check: verb({
      does: 'Ask Slack whose the bot token is, and what it lacks',
      call: calls.testSlack,
      fault: ({ ok, error }) => (ok ? null : (error ?? 'Slack does not take the bot token')),
      tell: (io, { team, bot, missing_scopes = [], heard_at }) => {
        io.out(`bot ${escapeLine(bot ?? '')} of the workspace ${escapeLine(team ?? '')}\n`)
        for (const { scope, why } of missing_scopes) io.out(`lacks ${scope}: ${why}\n`)
        io.out(heard_at ? `heard at ${heard_at}\n` : 'nothing was heard of Slack since the start\n')
      },
    }),
    people: verb({
      does: 'List who of Slack may do what',
      call: calls.getSlackPeople,
      tell: (io, { people, everyone }) => {
        rows(PEOPLE, 'nobody is mapped')(io, people)
        io.err(`everybody else may ${everyone === 'read' ? 'ask' : 'do nothing'}\n`)
      },
    }),
    allow: verb({
      does: 'Map somebody of Slack to rights, in place of those they had',
      call: calls.saveSlackPeople,
      args: [
        new Argument('<who>', 'user id of Slack, such as U012ABCDEF, or e-mail address'),
        new Argument(
          '<rights>',
          'read: ask; respond: handle incidents, too; admin: repeat runs and decide proposals',
        ).choices([...RIGHTS]),
      ],
      options: [['--as <name>', 'what they are called in the activity']],
      input: async ({ words: [who = '', rights], flags }: GivenWords<Flags & { as?: string }>, client) => {
        const now = await client.ask(calls.getSlackPeople)
        const others = now.people.filter((one) => !isMeant(one, who))
        const person = {
          ...(who.includes('@') ? { email: who } : { user: who }),
          ...(flags.as ? { name: flags.as } : {}),
          rights: RIGHTS.find((one) => one === rights)!,
        }
        return writtenOf(now, [...others.map(asWritten), person])
      },
      tell: (io, { people }, { words: [who = '', rights] }) =>
        io.out(`${escapeLine(who)} has the rights ${rights}; ${counted(people.length)} mapped\n`),
    }),
    disallow: verb({
      does: 'Take somebody of Slack out of the mapping: they may what everybody may',
      call: calls.saveSlackPeople,
      args: [new Argument('<who>', 'user id of Slack, or e-mail address they were entered by')],
      input: async ({ words: [who = ''] }, client) => {
        const now = await client.ask(calls.getSlackPeople)
        const others = now.people.filter((one) => !isMeant(one, who))
        if (others.length === now.people.length)
          throw new CliError(`nobody is mapped as ${escapeLine(who)}: svc slack people lists who is`)
        return writtenOf(now, others.map(asWritten))
      },
      tell: (io, { people }, { words: [who = ''] }) =>
        io.out(`${escapeLine(who)} is not mapped any more; ${counted(people.length)}\n`),
    }),
  },
)
