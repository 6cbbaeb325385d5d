/** `svc workspaces`: those of the platform that hosts this instance. */
import type { Workspace } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeLine } from '../terminal.ts'
import { noun, rows, verb } from '../verbs.ts'

const COLUMNS: Column<Workspace>[] = [
  { title: 'NAME', cell: ({ name, is_current }) => (is_current ? `${name} (this one)` : name) },
  { title: 'ADDRESS', cell: ({ url }) => url },
]

/** The command and its subcommands. */
export const workspacesCommand = noun(
  'workspaces',
  'List workspaces of the platform that hosts the instance',
  {
    list: verb({
      does: 'List workspaces of the platform that hosts this instance',
      call: calls.listWorkspaces,
      tell: (io, { workspaces, reason, detail }) => {
        if (reason === 'error') return void io.err(`${escapeLine(detail ?? '')}\n`)
        rows(
          COLUMNS,
          reason === 'none'
            ? 'this instance is not hosted: SVC_WORKSPACE_API_URL is not set'
            : 'no workspaces',
        )(io, workspaces)
      },
    }),
  },
)
