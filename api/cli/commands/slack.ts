/** `svc slack`: the app that Slack makes of a manifest, its check, and who of Slack may do what. */
import type { SlackPerson } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeLine } from '../terminal.ts'
import { noun, rows, verb } from '../verbs.ts'

const PEOPLE: Column<SlackPerson>[] = [
  { title: 'USER', cell: ({ user }) => user || 'not found' },
  { title: 'E-MAIL', cell: ({ email }) => email },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'RIGHTS', cell: ({ rights }) => rights },
]

/** The command and its subcommands. */
export const slackCommand = noun(
  'slack',
  'Show the manifest of the Slack app, check it, and who may do what',
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
      tell: (io, { ok, team, bot, error, missing_scopes = [], heard_at }) => {
        if (!ok) return void io.out(`Slack does not take it: ${escapeLine(error ?? '')}\n`)
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
  },
)
