/**
 * Answers of gpudash's REST, with the fields that the plugin reads. null: unknown, never 0.
 * A test of gpudash compares them with docs/openapi.yaml (tests/integrations/test_headlamp.py).
 */

export interface Card {
  id: number;
  key: string;
  index: number | null;
  model: string | null;
  mode: string;
  health: string;
  memory_allocated_bytes: number | null;
  memory_free_bytes: number | null;
}

export interface CardValidation {
  card: string;
  state: string;
}

export interface Finding {
  id: number;
  severity: string;
  text: string;
}

export interface Component {
  name: string;
  state: string;
  why: string | null;
  remedy: string | null;
  first_cause: boolean;
}

export interface NodeDetail {
  cluster: string;
  name: string;
  cards_total: number | null;
  cards_free: number | null;
  unavailable_reason: string | null;
  cards: Card[];
  validations: CardValidation[];
  findings: Finding[];
  components: Component[];
}

export interface Pod {
  pending: boolean;
  deciding_reason: string | null;
}

export interface Allocation {
  id: number;
  card_id: number | null;
  card: string | null;
  container: string;
  resource: string;
  quantity: number;
  mode: string;
  memory_bytes: number | null;
}
