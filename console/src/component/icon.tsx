const paths = {
  dashboard: 'M3 3h6v7H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 12h6v5H3z',
  playbook: 'M5 3h9a2 2 0 0 1 2 2v12H6a2 2 0 0 1-2-2V4a1 1 0 0 1 1-1zM8 7h5M8 10h5M8 13h3',
  run: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM8.5 7.2v5.6l4.5-2.8z',
  approval: 'M10 2.5l6 2.2v4.6c0 3.8-2.6 6.6-6 8.2-3.4-1.6-6-4.4-6-8.2V4.7zM7.4 9.9l1.9 1.9 3.4-3.7',
  policy: 'M10 3v14M6 17h8M4 6h12M4 6l-2 5a2.2 2.2 0 0 0 4 0zM16 6l-2 5a2.2 2.2 0 0 0 4 0z',
  analytics: 'M3 17h14M5.5 14V9M10 14V4M14.5 14V7',
  audit: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.4 13.4L17 17M6.5 9.2l1.7 1.7 3.2-3.6',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'M5 5l10 10M15 5L5 15',
  check: 'M4 10.5l4 4 8-9',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  down: 'M5 8l5 5 5-5',
  right: 'M8 5l5 5-5 5',
  up: 'M5 12l5-5 5 5',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.5v.2',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9v4M10 6.4v.2',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.8 1.8',
  person: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c.4-3.4 2.8-5 6-5s5.6 1.6 6 5',
  pause: 'M7 4v12M13 4v12',
  stop: 'M5 5h10v10H5z',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.4 13.4L17 17',
  download: 'M10 3v9M6 9l4 4 4-4M4 17h12',
  plus: 'M10 4v12M4 10h12',
  key: 'M7 13a4 4 0 1 1 3.5-5.9H18v3h-2v2h-3v-2h-2.5A4 4 0 0 1 7 13z',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5l1.3 1.3M14.2 14.2l1.3 1.3M4.5 15.5l1.3-1.3M14.2 5.8l1.3-1.3',
  dash: 'M5 10h10',
  dot: 'M10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  model:
    'M10 3l1.6 4.4L16 9l-4.4 1.6L10 15l-1.6-4.4L4 9l4.4-1.6zM15.5 13.5l.7 1.8 1.8.7-1.8.7-.7 1.8-.7-1.8-1.8-.7 1.8-.7z',
} as const

export type IconName = keyof typeof paths

/** A line drawing that says nothing by itself: whatever it stands beside carries the words. */
export function Icon({ name, className = 'size-4' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  )
}
