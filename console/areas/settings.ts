/** Settings: mostly forms, which the other pages that keep the instance need not load. */
export { default as SettingsPage } from '../pages/settings/settings-page.tsx'
