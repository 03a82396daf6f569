import { useId, type ComponentProps, type ReactNode } from 'react'

const control =
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-base sm:text-sm text-ink placeholder:text-muted aria-[invalid=true]:border-bad'

type Around = { label: string; hint?: ReactNode; error?: string | null | undefined; hideLabel?: boolean }

/** A label, a control, a hint and an error, tied together for whoever cannot see them stand together. */
export function Field({
  label,
  hint,
  error,
  hideLabel = false,
  children,
}: Around & { children: (props: FieldProps) => ReactNode }) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error ? `${id}-error` : '']
    .filter(Boolean)
    .join(' ')
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children({
        id,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': described === '' ? undefined : described,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {error ? (
        <p id={`${id}-error`} className="text-xs font-medium text-bad">
          {error}
        </p>
      ) : null}
    </div>
  )
}

export type FieldProps = {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** A line of text with its label. */
export function TextField({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: Around & ComponentProps<'input'>) {
  return (
    <Field {...around(label, hint, error, hideLabel)}>
      {(props) => <input {...rest} {...props} className={`${control} h-8 ${className}`} />}
    </Field>
  )
}

/** Several lines of text with their label. */
export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: Around & ComponentProps<'textarea'>) {
  return (
    <Field {...around(label, hint, error, hideLabel)}>
      {(props) => <textarea rows={3} {...rest} {...props} className={`${control} py-1.5 ${className}`} />}
    </Field>
  )
}

/** A choice of one; the browser's own control, which every device knows how to show. */
export function Select<Value extends string>({
  label,
  hint,
  error,
  hideLabel,
  options,
  value,
  onChange,
  ...rest
}: Around &
  Omit<ComponentProps<'select'>, 'onChange' | 'value'> & {
    value: Value
    onChange: (value: Value) => void
    options: readonly { readonly value: Value; readonly label: string }[]
  }) {
  return (
    <Field {...around(label, hint, error, hideLabel)}>
      {(props) => (
        <select
          {...rest}
          {...props}
          value={value}
          onChange={(event) => onChange(event.target.value as Value)}
          className={`${control} h-8 pr-7`}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A box to tick, with its words. */
export function Checkbox({
  label,
  hint,
  ...rest
}: { label: ReactNode; hint?: ReactNode } & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <input {...rest} id={id} type="checkbox" className="mt-0.5 size-4 accent-(--accent)" />
      <label htmlFor={id} className="text-sm">
        {label}
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </label>
    </div>
  )
}

function around(
  label: string,
  hint: ReactNode,
  error: Around['error'],
  hideLabel: boolean | undefined,
): Around {
  return {
    label,
    ...(hint === undefined ? {} : { hint }),
    ...(error === undefined ? {} : { error }),
    ...(hideLabel === undefined ? {} : { hideLabel }),
  }
}
