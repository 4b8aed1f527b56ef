import type { Locale } from "../locale.ts";

export const fr: Locale = {
  tag: "fr",
  dir: "ltr",
  greeting: "Bonjour {{ name }},",
  greetingWithoutName: "Bonjour,",
  labels: { parcel: "Colis", merchant: "Expéditeur", when: "Heure" },
  footer: "Vous recevez cet e-mail parce que vous suivez le colis {{ parcel }}.",
  messages: {
    picked_up: {
      subject: "Le colis {{ parcel }} est en route",
      buyer:
        "{{ merchant }} a remis votre colis au transporteur. Nous vous écrirons dès qu’il sera en cours de livraison.",
      staff: "Le transporteur a pris le colis en charge.",
    },
    customs_hold: {
      subject: "Le colis {{ parcel }} est retenu en douane",
      buyer:
        "La douane contrôle votre colis envoyé par {{ merchant }}. Vous n’avez rien à faire pour l’instant. Nous vous écrirons dès qu’il repartira.",
      staff: "Le colis est retenu en douane. Vérifiez que les documents douaniers sont complets.",
    },
    "customs_hold.still": {
      subject: "Le colis {{ parcel }} est toujours retenu en douane",
      buyer:
        "Votre colis envoyé par {{ merchant }} est en douane depuis plus de 24 heures. Nous sommes désolés de l’attente et vous écrirons dès qu’il sera libéré.",
      staff: "Le colis est toujours en douane après 24 heures. Demandez au transitaire ce qui manque.",
    },
    customs_released: {
      subject: "Le colis {{ parcel }} a passé la douane",
      buyer:
        "Bonne nouvelle : la douane a libéré votre colis envoyé par {{ merchant }}. Il est de nouveau en route.",
      staff: "La douane a libéré le colis.",
    },
    out_for_delivery: {
      subject: "Le colis {{ parcel }} arrive aujourd’hui",
      buyer:
        "Votre colis envoyé par {{ merchant }} est dans le véhicule du livreur et devrait vous parvenir aujourd’hui.",
      staff: "Le colis est en cours de livraison.",
    },
    delivery_exception: {
      subject: "Le colis {{ parcel }} n’a pas pu être livré",
      buyer:
        "Le transporteur n’a pas pu livrer votre colis envoyé par {{ merchant }}. En général, il réessaie le jour ouvrable suivant.",
      staff: "La livraison a échoué. Vérifiez l’adresse et le téléphone avec le destinataire.",
    },
    delivered: {
      subject: "Le colis {{ parcel }} a été livré",
      buyer: "Votre colis envoyé par {{ merchant }} a été livré. Profitez-en bien !",
      staff: "Le colis a été livré.",
    },
    returned: {
      subject: "Le colis {{ parcel }} est renvoyé à l’expéditeur",
      buyer:
        "Votre colis n’a pas pu être livré et repart vers {{ merchant }}. Contactez-les pour une nouvelle livraison ou un remboursement.",
      staff: "Le colis est renvoyé. Attendez-le à l’adresse de retour.",
    },
  },
};
