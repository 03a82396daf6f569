import type { SettingRule } from './settings-schema.ts'

/** The row of docs/reference/settings.md about a setting; a test compares the page with it. */
export function settingRow({ key, variable, flag, inFile, kind, standard, about }: SettingRule): string {
  const usual =
    standard === null || (Array.isArray(standard) && standard.length === 0) ? '–' : `\`${String(standard)}\``
  const flags =
    flag === null ? (kind === 'switch' && key === 'samples' ? '`--no-samples`' : '–') : `\`--${flag}\``
  return `| ${inFile ? `\`${key}\`` : '–'} | \`${variable}\` | ${flags} | ${usual} | ${about} |`
}
