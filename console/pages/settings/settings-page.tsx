/** Settings of the instance, in tabs (SPEC.md, Authentication 11; Outbound 6; Limits). */

import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Section } from '../../parts/section.tsx'
import { ConnectAgent } from '../connect/connect-agent.tsx'
import { Access } from './access.tsx'
import { AgentLimits } from './agent-limits.tsx'
import { Credentials } from './github/credentials.tsx'
import { Observability } from './observability.tsx'
import { Prices } from './prices.tsx'
import { Providers } from './providers.tsx'
import { Slack } from './slack/slack.tsx'

const TABS = [
  { value: 'access', label: 'Access and API keys', content: <Access /> },
  { value: 'providers', label: 'Model providers', content: <Providers /> },
  { value: 'github', label: 'GitHub', content: <Credentials /> },
  {
    value: 'slack',
    label: 'Slack',
    content: (
      <Acts says>
        <Slack />
      </Acts>
    ),
  },
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

/** Those from outside, which come in, and those of svc, which are bounded. */
function Agents() {
  return (
    <ConnectAgent>
      <Section title="Limits of agents">
        <AgentLimits />
      </Section>
    </ConnectAgent>
  )
}
