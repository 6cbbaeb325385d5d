/** The steps of a template, filled in for where they are shown. */

type Params = Readonly<Record<string, unknown>>

/** @param params by which `{{ name }}` is said; of a list its first entry */
export const fillStep = (text: string, params: Params, quoted = (value: string) => value): string =>
  text.replace(/\{\{ (\w+) \}\}/g, (_, name) => quoted(String([params[name]].flat()[0] ?? '…')))

/** A value as it stands in JSON that is quoted for a shell: neither is left by it. */
const inCommand = (value: string): string => JSON.stringify(value).slice(1, -1).replaceAll("'", "'\\''")

interface CommandAt {
  params: Params
  /** Address of the page, which is the daemon's where no proxy is in between. */
  origin: string
  /** End of the address of its source. */
  ingestKey: string
  /** What a secured instance asks for; null: nothing is. */
  token: string | null
}

/** A step's command as it can be run. */
export const stepCommand = (command: string, { params, origin, ingestKey, token }: CommandAt): string =>
  fillStep(command, params, inCommand)
    .replaceAll('$SVCD_URL', origin)
    .replaceAll('$INGEST_KEY', ingestKey)
    .replace(
      /^curl /,
      token && command.includes('$INGEST_KEY') ? `curl -H "Authorization: Bearer ${token}" ` : '$&',
    )
