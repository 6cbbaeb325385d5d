/** The catalog as a file: export it, or import one with its plan shown first. */
import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  CopyButton,
  FileButton,
  Group,
  List,
  ScrollArea,
  Stack,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Download, Upload } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import type { EditorPlace } from '../../parts/code-editor.tsx'
import { IngestKeysOnce } from '../../parts/ingest-keys.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

const CodeEditor = lazy(() => import('../../parts/code-editor.tsx'))

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
          href="/api/catalog/export"
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

function ImportTab() {
  const [yaml, setYaml] = useState('')
  const [prune, setPrune] = useState(false)
  const [why, setWhy] = useState('')
  const [settled] = useDebouncedValue(yaml, 400)
  const place = useRef<EditorPlace>(null)
  const checked = useQuery({
    queryKey: ['catalog-check', settled, prune],
    queryFn: () => declared.checkCatalog(settled, prune),
    enabled: settled.trim() !== '',
    staleTime: 0,
    gcTime: 0,
  })
  const apply = useChange(() => declared.importCatalog(yaml, prune, why.trim()), {
    said: ({ change_set }) =>
      change_set === null ? 'Nothing changed' : 'The catalog is imported; undo it under Change history',
    onDone: () => setYaml(''),
    quiet: true,
  })
  const problems = checked.data?.problems ?? []
  const plan = checked.data?.plan
  const changes = plan ? plan.creates + plan.updates + plan.deletes : 0
  return (
    <Stack>
      <Group>
        <FileButton onChange={(file) => void file?.text().then(setYaml)} accept=".yaml,.yml,application/yaml">
          {(props) => (
            <Button {...props} variant="default" leftSection={<Upload size={16} aria-hidden />}>
              Open a file
            </Button>
          )}
        </FileButton>
        <Checkbox
          checked={prune}
          onChange={(event) => setPrune(event.currentTarget.checked)}
          label="Delete what the file does not name"
        />
      </Group>
      {apply.data?.ingest_keys && <IngestKeysOnce keys={apply.data.ingest_keys} />}
      <Suspense fallback={<LoadingRows />}>
        <CodeEditor
          value={yaml}
          onChange={setYaml}
          language="yaml"
          label="Catalog file to import"
          problems={problems}
          place={place}
        />
      </Suspense>
      {checked.error && <Failed error={checked.error} />}
      {problems.length > 0 && (
        <Alert
          color="red"
          title={`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}; nothing is imported while there is one`}
          role="alert"
        >
          <List size="sm">
            {problems.map((problem) => (
              <List.Item key={`${problem.line}:${problem.column}:${problem.message}`}>
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  onClick={() => place.current?.goTo(problem.line, problem.column)}
                >
                  Line {problem.line}
                </Anchor>
                : {problem.path && <span className="mono">{problem.path}</span>} {problem.message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {plan && <PlanView plan={plan} />}
      <Refusal error={apply.error} />
      {plan && changes > 0 && (
        <Group align="flex-end">
          <TextInput
            label="Why"
            placeholder="For the history"
            value={why}
            onChange={(e) => setWhy(e.currentTarget.value)}
            maxLength={500}
            style={{ flex: 1, maxWidth: 420 }}
          />
          <Button
            loading={apply.isPending}
            disabled={settled !== yaml}
            onClick={() => apply.mutate(undefined)}
          >
            Apply {changes} {changes === 1 ? 'change' : 'changes'}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function DriftTab() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...dkeys.catalog, 'drift'],
    queryFn: declared.drift,
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  if (data.imported_at === null)
    return <Text c="dimmed">No file was imported yet; drift is told against the file last imported.</Text>
  return (
    <Stack>
      <Text size="sm" component="div">
        Against the file imported <When at={data.imported_at} />. Importing it again would do this:
      </Text>
      {data.plan ? <PlanView plan={data.plan} /> : <Text>The file no longer imports as it is.</Text>}
    </Stack>
  )
}
