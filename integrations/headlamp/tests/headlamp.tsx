/**
 * Stand-ins for Headlamp's components: those in its package do not load outside of Headlamp (version 0.14.0 imports a package that
 * it does not declare). `tsc` checks the sections against the types of the real ones.
 */

import type { ReactNode } from "react";

export function SectionBox({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function StatusLabel({ status, children }: { status: string; children: ReactNode }) {
  return <span data-status={status}>{children}</span>;
}

interface Column<T> {
  label: string;
  getter: (row: T) => ReactNode;
}

export function SimpleTable<T extends { id: number }>({ data, columns }: { data: T[]; columns: Column<T>[] }) {
  return (
    <table>
      <thead>
        <tr>
          {columns.map((one) => (
            <th key={one.label}>{one.label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.map((row) => (
          <tr key={row.id}>
            {columns.map((one) => (
              <td key={one.label}>{one.getter(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
