/** Settings of the instance, in tabs (SPEC.md, Authentication 11; Outbound 6; Limits). */
import { Stack } from '@mantine/core'
import { Suspense } from 'react'
import { lazyFrom } from '../../lib/chunks.ts'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Section } from '../../parts/section.tsx'
import { LoadingRows } from '../../parts/states.tsx'
import { ConnectAgent } from '../connect/connect-agent.tsx'
import { Access } from './access.tsx'
import { AgentLimits } from './agent-limits.tsx'
import { Credentials } from './github/credentials.tsx'
import { Observability } from './observability.tsx'
import { Prices } from './prices.tsx'
import { Providers } from './providers.tsx'

/** Apart, as few who open the settings come for it. */
const Slack = lazyFrom(() => import('./slack/slack.tsx'))('Slack')

const TABS = [
  { value: 'access', label: 'Access and API keys', content: <Access /> },
  { value: 'providers', label: 'Model providers', content: <Providers /> },
  { value: 'github', label: 'GitHub', content: <Credentials /> },
  { value: 'slack', label: 'Slack', content: <SlackTab /> },
  { value: 'agents', label: 'Agents', content: <Agents /> },
  { value: 'observability', label: 'Observability', content: <Observability /> },
  { value: 'prices', label: 'Prices', content: <Prices /> },
]

export default function SettingsPage() {
  return (
    <>
      <PageHead title="Settings" />
      <PageTabs tabs={TABS} />
    </>
  )
}

function SlackTab() {
  return (
    <Suspense fallback={<LoadingRows />}>
      <Slack />
    </Suspense>
  )
}

/** Those from outside, which come in, and those of svc, which are bounded. */
function Agents() {
  return (
    <Stack gap="xl">
      <ConnectAgent />
      <Section title="Limits of agents">
        <AgentLimits />
      </Section>
    </Stack>
  )
}
