/** The text to copy, and what must run for it to work. */
import { Alert, Paper, Stack, Text, TextInput } from '@mantine/core'
import type { KeyCreated } from '../../../schemas/types.ts'
import { type Client, snippetOf, type Via } from '../../lib/connect-snippets.ts'
import { CopyBlock } from '../../parts/copy.tsx'

export function SnippetPanel({
  client,
  via,
  svcd,
  mcp,
  onMcp,
  publicUrl,
  command,
  made,
  isOpen,
}: {
  client: Client
  via: Via
  svcd: string
  mcp: string
  onMcp: (mcp: string) => void
  publicUrl: string | null
  /** What starts svc mcp. */
  command: string
  made: KeyCreated | null
  isOpen: boolean
}) {
  const isReady = isOpen || made !== null
  const { place, text } = snippetOf(client, via, {
    svcd,
    mcp,
    key: isOpen ? null : (made?.secret ?? '<key>'),
  })
  return (
    <Stack>
      {via === 'http' && (
        <>
          <TextInput
            label="Address of svc mcp"
            description={
              publicUrl === null
                ? 'Its default address'
                : 'SVC_PUBLIC_URL with /mcp; the proxy leads it to svc mcp.'
            }
            value={mcp}
            onChange={(event) => onMcp(event.currentTarget.value)}
            error={URL.canParse(mcp) ? undefined : 'Not a valid address.'}
          />
          <div>
            <Text size="sm" fw={600} mb={4}>
              Start it, beside the daemon
            </Text>
            <CopyBlock value={command} label="Copy the command" />
          </div>
        </>
      )}
      {made && (
        <Alert color="yellow" title={`${made.name}: the key is shown once`}>
          Copy the text now; only the first characters of the key are kept. Anyone with the text has these
          rights until you revoke the key under API keys.
        </Alert>
      )}
      <div>
        <Text size="sm" fw={600} mb={4}>
          {isReady ? `Put this into ${place}` : `What will go into ${place}`}
        </Text>
        {isReady ? (
          <CopyBlock value={text} label="Copy the text" />
        ) : (
          <Paper withBorder radius="md" p="xs" bg="var(--mantine-color-default-hover)">
            <pre className="mono" style={{ margin: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {text}
            </pre>
          </Paper>
        )}
        {via === 'stdio' && (
          <Text size="sm" c="dimmed" mt={4}>
            The command <code>svc</code> must be on the machine of the client; where it is not on the PATH,
            write its full path.
          </Text>
        )}
      </div>
    </Stack>
  )
}
