/** How events reach a source: addresses and commands to copy, as its connector wants them. */
import { Code, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import type { SendTo, Snippet } from '../../lib/send-one.ts'
import { KEY } from '../../lib/send-ways.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { PresetSetup, useDocumented } from './preset-choice.tsx'

/** All ways to send are loaded when one is shown: few pages have them. */
const loadWays = () => import('../../lib/send-snippets.ts')
type Written = Awaited<ReturnType<typeof loadWays>>

interface Props {
  source: Source
  /** Its key, where it has just been made. */
  token?: string | undefined
}

export function HowToSend({ source, token }: Props) {
  const { data: capabilities } = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const { data: sources } = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const { data: written } = useQuery({ queryKey: ['send-snippets'], queryFn: loadWays, staleTime: Infinity })
  if (!written || source.ingest_key === null || !capabilities || !sources) return null
  const same = sources.filter(({ connector }) => connector === source.connector)
  const at: SendTo = {
    name: source.name,
    origin: window.location.origin,
    ingestKey: source.ingest_key,
    token: token ?? (capabilities.auth_required ? KEY : null),
    isOneOfSeveral: same.length > 1,
    grpc: capabilities.otlp_grpc,
  }
  return (
    <Stack gap="xs">
      <Ways written={written} source={source} at={at} isFirst={oldest(same) === source.name} />
      {at.token === KEY && !source.signed && (
        <Text size="xs" c="dimmed">
          Put a key with the scope ingest in place of <Code>{KEY}</Code>; API keys makes one.
        </Text>
      )}
    </Stack>
  )
}

interface WaysProps {
  written: Written
  source: Source
  at: SendTo
  isFirst: boolean
}

function Ways({ written, source, at, isFirst }: WaysProps) {
  switch (source.connector) {
    case 'otlp':
      return <Exporters written={written} at={at} config={source.config} />
    case 'syslog':
      return <Snippets snippets={written.syslogSnippets(at, source.config)} />
    case 'alertmanager':
      return <Snippets snippets={written.alertmanagerSnippets(at, source.config)} />
    case 'vercel':
      return <Snippets snippets={written.vercelSnippets(at, source.signed, source.config)} />
    case 'claude_code':
      return <Snippets snippets={written.sessionSnippets(at, isFirst)} />
    case 'github_app':
      return (
        <>
          <Snippets snippets={written.signedSnippets(at)} />
          <Text size="sm">
            In the settings of the app on GitHub, enter this address as webhook URL, with the content type
            application/json and the webhook secret stored here. Choose events under Permissions &amp; events.
            The ping of GitHub is the first event.
          </Text>
        </>
      )
    default: {
      const { connector, config, signed } = source
      return signed ? (
        <>
          <Snippets snippets={written.signedSnippets(at)} />
          <PresetSetup name={config.preset} />
        </>
      ) : (
        <Plain written={written} at={at} connector={connector} config={config} />
      )
    }
  }
}

/** Of a preset, what its sender documents is what one sends to try it. */
function Plain({
  written,
  at,
  connector,
  config,
}: Pick<WaysProps, 'written' | 'at'> & Pick<Source, 'connector' | 'config'>) {
  const documented = useDocumented(config.preset)
  return (
    <>
      <Snippets snippets={written.plainSnippets(at, connector, config, documented)} />
      <PresetSetup name={config.preset} />
    </>
  )
}

function Exporters({ written, at, config }: Pick<WaysProps, 'written' | 'at'> & Pick<Source, 'config'>) {
  const { sdk, collector, curl } = written.otlpSnippets(at, config)
  return (
    <Tabs defaultValue="sdk" keepMounted={false}>
      <Tabs.List aria-label="Ways to send">
        <Tabs.Tab value="sdk">SDK</Tabs.Tab>
        <Tabs.Tab value="collector">Collector</Tabs.Tab>
        <Tabs.Tab value="curl">curl</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="sdk" pt="sm">
        <Snippets snippets={sdk} />
      </Tabs.Panel>
      <Tabs.Panel value="collector" pt="sm">
        <Snippets snippets={collector} />
      </Tabs.Panel>
      <Tabs.Panel value="curl" pt="sm">
        <Snippets snippets={curl} />
      </Tabs.Panel>
    </Tabs>
  )
}

function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  return (
    <Stack>
      {snippets.map(({ title, text, note }) => (
        <div key={title}>
          <Text fw={600} size="sm" mb={4}>
            {title}
          </Text>
          {text && <CopyBlock value={text} label={`Copy: ${title}`} />}
          {note && (
            <Text size="sm" c="dimmed" mt={4}>
              {note}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  )
}

const oldest = (sources: readonly Source[]): string | undefined =>
  [...sources].sort((a, b) => a.created_at.localeCompare(b.created_at))[0]?.name
