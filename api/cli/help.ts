/** Texts of the help that are not an option's own line. */
import { environment } from '../environment.ts'

export const EXAMPLES = `Examples:
  svc up                                          start; the console is at http://127.0.0.1:8787
  svc up --auth                                   the same, with a login
  svc sources add logs --connector webhook --label service=service --primary service
  echo '{"service":"checkout","message":"deployed"}' | svc send logs
  svc read service=checkout --window 1h           one entity's timeline
  svc tail service=checkout                       the same, as it happens
  svc ask "what broke checkout?"                 answered by a model over what is stored
  svc why evt_42                                  why an event fired each trigger, or did not
  svc triggers test gateway-errors --window 7d    when a trigger would have fired
  svc catalog plan catalog.yaml                   what a catalog file would change
  svc catalog apply catalog.yaml                  the same, done after a yes
  svc changes undo 12                             takes one change back

Client commands talk to the daemon that --svcd or SVCD_URL names, else to the saved login,
else to http://127.0.0.1:8787. Every variable is listed by "svc up --help".
Exit codes: 0 done, 1 refused, not reachable or not as expected, 2 wrong usage ("svc catalog plan": there are changes),
75 the data is in use, 78 configuration.
`

/** The variables the daemon reads, as a table. */
export function describeEnvironment(): string {
  const read = environment.filter((variable) => variable.readers.includes('daemon'))
  const width = Math.max(...read.map((variable) => variable.name.length))
  const lines = read.map(
    (variable) =>
      `  ${variable.name.padEnd(width)}  ${variable.meaning}${variable.default === null ? '' : ` (${variable.default})`}`,
  )
  return `Environment (a flag wins):\n${lines.join('\n')}\n`
}
