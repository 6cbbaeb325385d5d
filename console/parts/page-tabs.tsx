/** Tabs of a page, each with what it shows; the address holds which. */
import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Tab, useTab } from '../lib/use-tab.ts'

export interface PageTab extends Tab {
  content: ReactNode
}

/** @param was what tabs were called before, and what they are called now */
export function PageTabs({
  tabs,
  was,
}: {
  tabs: readonly PageTab[]
  was?: Readonly<Record<string, string>>
}) {
  const [tab, go] = useTab(tabs, was)
  return (
    <Tabs value={tab} onChange={go} keepMounted={false}>
      <Tabs.List mb="md">
        {tabs.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
