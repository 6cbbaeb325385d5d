/** `svc completion`: the script that completes commands and options in a shell. */
import { Argument, Command } from 'commander'
import { completionScript, SHELLS, type Shell } from '../reference/completion.ts'
import { commandFacts } from '../reference/tree.ts'
import type { Io } from '../terminal.ts'

const HOW = `
  bash   source <(svc completion bash)
  zsh    source <(svc completion zsh)
  fish   svc completion fish | source
`

/** The command. */
export function completionCommand(io: Io): Command {
  const command = new Command('completion')
    .description('Print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .addHelpText('after', HOW)
  return command.action((shell: Shell) => io.out(completionScript(shell, commandFacts(command.parent!))))
}
