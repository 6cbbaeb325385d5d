/** The catalog as a file: export it, import one with its plan shown first, compare with those imported. */
import { Button, CopyButton, Group, ScrollArea, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { DriftTab } from './drift-tab.tsx'
import { ImportTab } from './import-tab.tsx'

export default function CatalogPage() {
  const [query, setQuery] = useSearchParams()
  return (
    <>
      <PageHead title="Catalog" />
      <Text size="sm" mb="md" maw={760}>
        Everything that is declared here as one YAML file: for a repository, for a review, for another
        instance. Secrets are never in it.
      </Text>
      <Tabs
        value={query.get('tab') ?? 'export'}
        onChange={(tab) => setQuery(tab === 'export' || !tab ? {} : { tab })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="export">Export</Tabs.Tab>
          <Tabs.Tab value="import">Import</Tabs.Tab>
          <Tabs.Tab value="drift">Drift</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="export">
          <ExportTab />
        </Tabs.Panel>
        <Tabs.Panel value="import">
          <ImportTab />
        </Tabs.Panel>
        <Tabs.Panel value="drift">
          <DriftTab />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function ExportTab() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.catalog,
    queryFn: declared.exportCatalog,
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  return (
    <Stack>
      <Group>
        <Button
          component="a"
          href={declared.catalogFile}
          download="catalog.yaml"
          leftSection={<Download size={16} aria-hidden />}
        >
          Download catalog.yaml
        </Button>
        <CopyButton value={data}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <ScrollArea.Autosize
        mah="70vh"
        type="auto"
        className="yaml-text"
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'The catalog of this instance' }}
      >
        <pre className="mono">{data}</pre>
      </ScrollArea.Autosize>
    </Stack>
  )
}
