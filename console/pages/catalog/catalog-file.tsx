/** The catalog as a file: export it, import one with its plan shown first, compare with those imported. */
import { Button, Group, ScrollArea, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Suspense } from 'react'
import { useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { useCopy } from '../../lib/copy-text.ts'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { DriftTab } from './drift-tab.tsx'
import { RepositoryTab } from './repository-tab.tsx'

const ImportTab = lazyFrom(() => import('./import-tab.tsx'))('ImportTab')

const VIEWS = [
  { value: 'export', label: 'Export' },
  { value: 'import', label: 'Import' },
  { value: 'drift', label: 'Drift' },
  { value: 'repository', label: 'Repository' },
]

const OF_FILE =
  'Everything that is declared here as one YAML file: for a repository, for a review, for another instance. Secrets are never in it.'
const OF_REPOSITORY = 'This instance kept like the catalog files of a git repository.'

/** What of it is shown is `view` in the address: a tab of Changes holds it. */
export function CatalogFile() {
  const [address, setAddress] = useSearchParams()
  const repository = useQuery({
    queryKey: [...dkeys.catalog, 'sync'],
    queryFn: declared.catalogSync,
    select: (sync) => sync.repository,
  })
  // Who follows a repository comes for what it is at.
  const first = repository.data ? 'repository' : 'export'
  const view = VIEWS.find(({ value }) => value === address.get('view'))?.value ?? first
  if (repository.isPending) return <LoadingRows />
  return (
    <Stack>
      <Group justify="space-between" gap="sm">
        <Text size="sm" maw={760}>
          {view === 'repository' ? OF_REPOSITORY : OF_FILE}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="What to do with the catalog file"
          data={VIEWS}
          value={view}
          onChange={(to) =>
            setAddress({ tab: 'catalog', ...(to === first ? {} : { view: to }) }, { replace: true })
          }
        />
      </Group>
      {view === 'export' && <ExportTab />}
      {view === 'import' && (
        <Suspense fallback={<LoadingRows />}>
          <ImportTab />
        </Suspense>
      )}
      {view === 'drift' && <DriftTab />}
      {view === 'repository' && <RepositoryTab />}
    </Stack>
  )
}

function ExportTab() {
  const { copied, copy } = useCopy()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.catalog,
    queryFn: declared.exportCatalog,
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="the catalog" error={error} onRetry={() => void refetch()} />
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
        <Button variant="default" onClick={() => copy(data, true)}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
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
