/** A new source: from an event, or by a connector and its form; then the first event arrives. */
import { Button, Divider } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import type { SourceCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { emptyLabel, toDrafts } from '../../forms/label-drafts.ts'
import { draftOfProposed, EMPTY_WEBHOOK, type SourceDraft } from '../../forms/source-draft.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { proposedIn } from '../../lib/proposed.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { ConnectorChoice } from './connector-choice.tsx'
import { ScanOffer, ScanPage } from './scan-page.tsx'
import { StartFromSample } from './start-from-sample.tsx'

const CreatedPanel = lazyFrom(() => import('./created-panel.tsx'))('CreatedPanel')
const FillIn = lazyFrom(() => import('./new-source-form.tsx'))('FillIn')

const PRESETS: Record<string, { connector: string; name: string; draft: () => SourceDraft }> = {
  github: {
    connector: 'webhook',
    name: 'github',
    draft: () => ({
      config: { signature_scheme: 'github' },
      labels: [
        { ...emptyLabel(true), name: 'repo', value: 'repository.full_name' },
        { ...emptyLabel(), name: 'author', value: 'sender.login' },
      ],
    }),
  },
  logs: {
    connector: 'webhook',
    name: 'logs',
    draft: () => ({
      config: { event_type_field: 'level', text_template: '{msg}', event_time_field: 'time' },
      labels: [
        { ...emptyLabel(true), name: 'service', value: 'service' },
        { ...emptyLabel(), name: 'level', value: 'level' },
      ],
    }),
  },
}

export default function NewSourcePage() {
  const [query, setQuery] = useSearchParams()
  const preset = PRESETS[query.get('preset') ?? '']
  const chosen = preset?.connector ?? query.get('connector')
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const project = query.get('project') ?? undefined
  const given = proposedIn(useLocation().state)
  const proposed = given?.connector === chosen ? given : null
  const [created, setCreated] = useState<SourceCreated | null>(null)
  if (created)
    return (
      <Suspense fallback={<LoadingRows rows={3} />}>
        <CreatedPanel created={created} />
      </Suspense>
    )
  if (query.get('from') === 'docker') return <ScanPage project={project} />
  const connector = chosen ? connectors.data?.[chosen] : undefined
  return (
    <>
      <PageHead title="Add source">
        <Button component={Link} to="/sources" variant="default">
          Cancel
        </Button>
      </PageHead>
      {connectors.isPending && <LoadingRows rows={3} />}
      {connectors.error && (
        <Failed what="connectors" error={connectors.error} onRetry={() => void connectors.refetch()} />
      )}
      {connectors.data && !connector && (
        <>
          {connectors.data.webhook && (
            <StartFromSample connector={connectors.data.webhook} project={project} onCreated={setCreated} />
          )}
          <Divider my="lg" />
          <ScanOffer onScan={() => setQuery({ ...(project ? { project } : {}), from: 'docker' })} />
          <ConnectorChoice
            connectors={connectors.data}
            onChoose={(kind) => setQuery({ ...(project ? { project } : {}), connector: kind })}
          />
        </>
      )}
      {connector && chosen && (
        <Suspense fallback={<LoadingRows rows={3} />}>
          <FillIn
            kind={chosen}
            connector={connector}
            presetName={preset?.name ?? String(proposed?.name ?? '')}
            presetPoll={String(proposed?.poll ?? '')}
            project={project}
            initial={
              preset?.draft() ??
              draftOfProposed(proposed) ?? {
                config: {},
                labels: chosen === 'webhook' ? EMPTY_WEBHOOK.labels : toDrafts(connector.labels ?? []),
              }
            }
            onCreated={setCreated}
          />
        </Suspense>
      )}
    </>
  )
}
