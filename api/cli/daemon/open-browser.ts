/** Opens the console in the person's browser; a start never fails because of it. */
import { spawn } from 'node:child_process'

/** @param onFailure is told why the browser could not be opened. */
export function openBrowser(
  url: string,
  onFailure: (reason: string) => void,
  platform: NodeJS.Platform = process.platform,
): void {
  const [command, args] = browserCommand(url, platform)
  try {
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.once('error', (error) => onFailure(error.message))
    child.unref()
  } catch (error) {
    onFailure((error as Error).message)
  }
}

/** The command that opens an address, by platform. */
export function browserCommand(url: string, platform: NodeJS.Platform): [command: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]]
  // `start` takes its first quoted argument as a window title.
  if (platform === 'win32') return ['cmd', ['/c', 'start', '""', url.replaceAll('&', '^&')]]
  return ['xdg-open', [url]]
}
