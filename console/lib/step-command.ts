/** The commands of a template's steps, for where they are shown. */

/** @param isSecured whether what is posted needs a key. */
export function stepCommand(command: string, origin: string, isSecured: boolean): string {
  const here = command.replaceAll('$SVCD_URL', origin)
  if (!isSecured || !here.includes('$INGEST_KEY')) return here
  return here.replace(/^curl /, 'curl -H "Authorization: Bearer $SVC_AUTH_TOKEN" ')
}
